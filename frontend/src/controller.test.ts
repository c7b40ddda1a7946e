import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { apiOf } from "./api";
import { Controller } from "./controller";
import type { Item, Page, Sitting } from "./protocol";
import { sittingStore } from "./store";
import { answerWith, itemOf, pageOf, sittingOf } from "./testing";

type Body = Record<string, unknown>;
type Reply = { status?: number; body: unknown } | "cut";

let calls: { name: string; body: Body }[];
let server: Record<string, (body: Body) => Reply | Promise<Reply>>;

const yes = answerWith({ answer: "yes", milliseconds: 5 });
const settle = (milliseconds = 0): Promise<unknown> => vi.advanceTimersByTimeAsync(milliseconds);
const called = (name: string): Body[] => calls.filter((c) => c.name === name).map((c) => c.body);

function serve(sitting: Sitting): void {
  server = {
    open: () => ({ body: sitting }),
    draft: () => ({ body: { feedback: null } }),
    finish: () => ({ body: { fields: { sitting: "7" }, score: null, standing: null } }),
    consent: () => ({ body: {} }),
  };
}

function controllerOf(change: Partial<Page> = {}): Controller {
  const page = pageOf(change);
  return new Controller(page, apiOf(page), sittingStore(page.sittingKey));
}

async function loaded(items: readonly Item[], change: Partial<Page> = {}): Promise<Controller> {
  serve(sittingOf(items));
  const controller = controllerOf(change);
  await controller.load();
  return controller;
}

beforeEach(() => {
  vi.useFakeTimers();
  localStorage.clear();
  calls = [];
  vi.stubGlobal("fetch", async (url: string, init: RequestInit) => {
    const name = url.replace("/hits/api/", "");
    const body = JSON.parse(init.body as string) as Body;
    calls.push({ name, body });
    const reply = (await server[name]?.(body)) ?? "cut";
    if (reply === "cut") throw new TypeError("Failed to fetch");
    return new Response(JSON.stringify(reply.body), { status: reply.status ?? 200 });
  });
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test("an answer is kept and sent, and the page goes on to the next question", async () => {
  const controller = await loaded([itemOf(1), itemOf(2)]);
  controller.answer({ answer: "yes" }, true);
  expect(localStorage.getItem("chainbox.sitting.worker-at-assignment")).toContain('"yes"');
  await settle(300);
  expect(controller.snapshot.sitting?.position).toBe(1);
  expect(called("draft")).toMatchObject([{ number: 1, answer: { answer: "yes" } }]);
});

test("a worker who goes elsewhere right after an answer stays there", async () => {
  const controller = await loaded([itemOf(1), itemOf(2), itemOf(3)]);
  controller.answer({ answer: "yes" }, true);
  controller.go(2);
  controller.go(0);
  await settle(300);
  expect(controller.snapshot.sitting?.position).toBe(0);
});

test("what is still being typed is sent when the page is left", async () => {
  const controller = await loaded([itemOf(1, { answer: yes })]);
  controller.change({ comment: "blurred" }, 800);
  expect(called("draft")).toEqual([]);
  controller.look(false);
  expect(called("draft")).toMatchObject([{ answer: { comment: "blurred" } }]);
});

test("after the last question nothing happens automatically", async () => {
  const controller = await loaded([itemOf(1)]);
  controller.answer({ answer: "yes" }, true);
  await settle(60_000);
  expect(called("finish")).toEqual([]);
  expect(controller.snapshot.phase.kind).toBe("asking");
});

test("a reload without a connection to the server loses nothing", async () => {
  const first = await loaded([itemOf(1), itemOf(2)]);
  server.draft = () => "cut";
  first.answer({ answer: "no" }, true);
  await settle(300);
  serve(sittingOf([itemOf(1), itemOf(2)]));
  calls = [];
  const second = controllerOf();
  await second.load();
  await settle();
  expect(second.snapshot.sitting?.entries[0]?.answer.answer).toBe("no");
  expect(second.snapshot.sitting?.position).toBe(1);
  expect(called("draft")).toMatchObject([{ number: 1, answer: { answer: "no" } }]);
});

describe("loading once more while a sitting is in view", () => {
  const held = (): { reply: Promise<Reply>; come(reply: Reply): void } => {
    let come: (reply: Reply) => void = () => {};
    const reply = new Promise<Reply>((resolve) => {
      come = resolve;
    });
    return { reply, come };
  };

  test("keeps what is answered and saved meanwhile, which the reply cannot know", async () => {
    const items = [itemOf(1, { answer: yes }), itemOf(2)];
    const controller = await loaded(items);
    controller.go(0);
    const open = held();
    server.open = () => open.reply;
    const again = controller.load();
    controller.answer({ answer: "no" }, false);
    await settle();
    expect(called("draft")).toMatchObject([{ number: 1, answer: { answer: "no" } }]);
    open.come({ body: sittingOf(items) });
    await again;
    expect(controller.snapshot.sitting?.entries[0]?.answer.answer).toBe("no");
    await settle();
    expect(called("draft").at(-1)).toMatchObject({ number: 1, answer: { answer: "no" } });
  });

  test("does not bring back answers submitted meanwhile", async () => {
    const items = [itemOf(1, { answer: yes })];
    const controller = await loaded(items);
    const open = held();
    server.open = () => open.reply;
    const again = controller.load();
    await controller.finish();
    open.come({ body: sittingOf(items) });
    await again;
    expect(controller.snapshot.phase).toMatchObject({ kind: "finished", when: "now" });
  });
});

test("another worker on the same machine sees none of it", async () => {
  const first = await loaded([itemOf(1)]);
  first.answer({ answer: "no" }, false);
  const other = await loaded([itemOf(1)], { sittingKey: "somebody-else" });
  expect(other.snapshot.sitting?.entries[0]?.answer.answer).toBe("");
});

test("forbidden storage does not keep anybody from working", async () => {
  vi.stubGlobal("localStorage", undefined);
  Object.defineProperty(window, "localStorage", {
    configurable: true,
    get: () => {
      throw new DOMException("denied", "SecurityError");
    },
  });
  const controller = await loaded([itemOf(1)], { sittingKey: "no-storage" });
  controller.answer({ answer: "yes" }, false);
  await settle();
  expect(called("draft")).toHaveLength(1);
  Reflect.deleteProperty(window, "localStorage");
});

test("a full storage never brings back what was answered before", async () => {
  const first = await loaded([itemOf(1)], { sittingKey: "full-storage" });
  server.draft = () => "cut";
  first.answer({ answer: "yes" }, false);
  const real = window.localStorage;
  const full = {
    getItem: (key: string) => real.getItem(key),
    removeItem: (key: string) => real.removeItem(key),
    setItem: () => {
      throw new DOMException("full", "QuotaExceededError");
    },
  };
  vi.stubGlobal("localStorage", full);
  server.draft = () => ({ body: { feedback: null } });
  first.answer({ answer: "no" }, false);
  await settle(5000);
  expect(called("draft").at(-1)).toMatchObject({ answer: { answer: "no" } });
  // After a crash nothing is in memory: what the server has must win.
  expect(real.getItem("chainbox.sitting.full-storage")).toBeNull();
});

test("a comment is saved before there is an answer", async () => {
  const controller = await loaded([itemOf(1)]);
  controller.change({ comment: "blurred" });
  await settle(5000);
  expect(called("draft")).toMatchObject([{ answer: { answer: "", comment: "blurred" } }]);
  expect(controller.open).toEqual([0]);
  controller.change({ comment: "" });
  await settle(5000);
  expect(called("draft").at(-1)).toMatchObject({ answer: null });
});

test("in a test a comment waits for its answer", async () => {
  const controller = await loaded([itemOf(1)], { mode: "test" });
  controller.change({ comment: "blurred" });
  await settle(5000);
  expect(called("draft")).toEqual([]);
  controller.answer({ answer: "yes" }, false);
  await settle();
  expect(called("draft")).toMatchObject([{ answer: { answer: "yes", comment: "blurred" } }]);
});

describe("handing in", () => {
  test("waits for all answers", async () => {
    const controller = await loaded([itemOf(1, { answer: yes }), itemOf(2)]);
    await controller.finish();
    expect(called("finish")).toEqual([]);
    expect(controller.open).toEqual([1]);
  });

  test("twice at once sends once, and forgets what was kept", async () => {
    const controller = await loaded([itemOf(1)]);
    controller.answer({ answer: "yes" }, false);
    await settle();
    await Promise.all([controller.finish(), controller.finish()]);
    expect(called("finish")).toHaveLength(1);
    expect(called("finish")[0]).toMatchObject({ answers: [{ number: 1, answer: "yes" }] });
    expect(controller.snapshot.phase).toMatchObject({ kind: "finished", when: "now" });
    expect(Object.keys(localStorage)).toEqual([]);
  });

  test("goes on trying with the same answers, at once when the connection is back", async () => {
    const controller = await loaded([itemOf(1, { answer: yes })]);
    server.finish = () => "cut";
    const done = controller.finish();
    await settle(1500);
    expect(controller.snapshot.finishing).toBe("retrying");
    controller.change({ answer: "no" });
    expect(controller.snapshot.sitting?.entries[0]?.answer.answer).toBe("yes");
    server.finish = () => ({ body: { fields: { a: "b" }, score: null, standing: null } });
    window.dispatchEvent(new Event("online"));
    await done;
    const [first, ...others] = called("finish");
    for (const other of others) expect(other).toEqual(first);
    expect(controller.snapshot.phase).toMatchObject({ kind: "finished", fields: { a: "b" } });
  });

  test("explains that other answers were submitted before", async () => {
    const controller = await loaded([itemOf(1, { answer: yes })]);
    server.finish = () => ({
      status: 409,
      body: { error: "finished", message: "Those stand." },
    });
    server.open = () => ({ body: sittingOf([], { finished: true, fields: { a: "b" } }) });
    await controller.finish();
    await settle();
    expect(controller.snapshot.phase).toMatchObject({ kind: "finished", when: "otherwise" });
  });

  test("an answer that is refused is said so and can be given again", async () => {
    const controller = await loaded([itemOf(1)]);
    server.draft = () => ({ status: 400, body: { error: "bad_request", message: "Too big." } });
    controller.answer({ answer: "yes" }, false);
    await settle();
    expect(controller.snapshot.notice).toBe("Too big.");
    expect(controller.open).toEqual([0]);
  });
});

test("a finished sitting is not submitted again automatically", async () => {
  serve(sittingOf([itemOf(1)], { finished: true, fields: { a: "b" } }));
  const controller = controllerOf();
  await controller.load();
  expect(controller.snapshot.phase).toMatchObject({ kind: "finished", when: "before" });
});

test("time that has run out ends the sitting", async () => {
  serve(sittingOf([itemOf(1)], { secondsLeft: 60 }));
  const controller = controllerOf();
  await controller.load();
  await settle(60_000);
  expect(controller.snapshot.phase).toMatchObject({
    kind: "problem",
    problem: { kind: "expired" },
  });
});

test("a server that is away is tried again until it is there", async () => {
  server = {};
  const controller = controllerOf();
  const done = controller.load();
  await settle(500);
  expect(controller.snapshot.phase).toEqual({ kind: "loading", failures: 1 });
  serve(sittingOf([itemOf(1)]));
  await settle(1000);
  await done;
  expect(controller.snapshot.phase.kind).toBe("asking");
});

test("nothing is asked before consent is given", async () => {
  serve(sittingOf([itemOf(1)]));
  const consent = { version: 3, title: "The study", paragraphs: [] };
  const controller = controllerOf({ consent });
  expect(controller.snapshot.phase.kind).toBe("consent");
  await controller.agree(3);
  expect(calls.map((call) => call.name)).toEqual(["consent", "open"]);
  expect(called("consent")).toEqual([{ version: 3 }]);
  expect(controller.snapshot.phase.kind).toBe("asking");
});

test("after consent the page uses the token that records it", async () => {
  const consent = { version: 3, title: "Consent", paragraphs: [] };
  serve(sittingOf([itemOf(1)]));
  const tokens: unknown[] = [];
  const fetched = globalThis.fetch;
  vi.stubGlobal("fetch", (url: string, init: RequestInit) => {
    tokens.push((init.headers as Record<string, string>).Authorization);
    return fetched(url, init);
  });
  server.consent = () => ({ body: { feedback: null, secondsLeft: null, token: "agreed" } });
  const controller = controllerOf({ consent });
  await controller.agree(3);
  controller.answer({ answer: "yes" }, false);
  await settle();
  expect(tokens).toEqual(["Bearer ticket", "Bearer agreed", "Bearer agreed"]);
});

test("an answer may keep the questions for longer", async () => {
  serve(sittingOf([itemOf(1)], { secondsLeft: 60 }));
  const controller = controllerOf();
  await controller.load();
  server.draft = () => ({ body: { feedback: null, secondsLeft: 600, token: "" } });
  await settle(50_000);
  controller.answer({ answer: "yes" }, false);
  await settle(20_000);
  expect(controller.snapshot.phase.kind).toBe("asking");
  expect(controller.snapshot.deadline).toBe(Date.now() + 580_000);
  await settle(581_000);
  expect(controller.snapshot.phase.kind).toBe("problem");
});

describe("a test", () => {
  const feedback = { right: false, expected: "no", expectedRects: [], why: "Two dogs." };

  test("locks an answer, shows what is right, and stays there", async () => {
    const controller = await loaded([itemOf(1), itemOf(2)], { mode: "test" });
    server.draft = () => ({ body: { feedback } });
    controller.answer({ answer: "yes" }, true);
    expect(controller.open).toEqual([0, 1]);
    await settle(1000);
    expect(controller.snapshot.sitting?.position).toBe(0);
    expect(controller.snapshot.sitting?.entries[0]?.feedback).toEqual(feedback);
    controller.answer({ answer: "no" }, true);
    await settle(1000);
    expect(called("draft")).toHaveLength(1);
    expect(controller.open).toEqual([1]);
  });

  test("has no time that runs out: it keeps no question from others", async () => {
    serve(sittingOf([itemOf(1)], { secondsLeft: 60 }));
    const controller = controllerOf({ mode: "test" });
    await controller.load();
    expect(controller.snapshot.deadline).toBe(Number.POSITIVE_INFINITY);
    await settle(61_000);
    expect(controller.snapshot.phase.kind).toBe("asking");
  });

  test("that withholds the right answers goes on automatically, and can be submitted", async () => {
    serve(sittingOf([itemOf(1), itemOf(2)], { withheld: true }));
    const controller = controllerOf({ mode: "test" });
    await controller.load();
    controller.answer({ answer: "yes" }, true);
    expect(controller.open).toEqual([1]);
    await settle(1000);
    expect(controller.snapshot.sitting?.position).toBe(1);
    controller.answer({ answer: "no" }, true);
    expect(controller.open).toEqual([]);
    controller.go(0);
    controller.answer({ answer: "no" }, true);
    await settle(1000);
    expect(called("draft")).toHaveLength(2);
    await controller.finish();
    expect(controller.snapshot.phase).toMatchObject({ kind: "finished", score: null });
    expect(called("finish")[0]?.answers).toMatchObject([{ answer: "yes" }, { answer: "no" }]);
  });

  test("takes over what was answered in another tab", async () => {
    const controller = await loaded([itemOf(1)], { mode: "test" });
    server.draft = () => ({ status: 409, body: { error: "answered", message: "It has one." } });
    server.open = () => ({ body: sittingOf([itemOf(1, { answer: yes, feedback })]) });
    controller.answer({ answer: "no" }, false);
    await settle();
    expect(controller.snapshot.sitting?.entries[0]).toMatchObject({ feedback, answer: yes });
  });
});
