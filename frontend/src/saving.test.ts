import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { apiOf } from "./api";
import { waitAfter } from "./retrying";
import { Saver, type SaveState } from "./saving";
import { answerWith } from "./testing";

const yes = answerWith({ answer: "yes" });
const no = answerWith({ answer: "no" });

interface Call {
  readonly url: string;
  readonly body: { number: number; answer: { answer: string } | null };
  readonly init: RequestInit;
}

let calls: Call[];
let reply: (call: Call) => Promise<Response>;
let states: SaveState[];
let saved: string[];
let refused: string[];
let saver: Saver;

function ok(body: unknown = { feedback: null }): Promise<Response> {
  return Promise.resolve(new Response(JSON.stringify(body)));
}

function problem(status: number, error: string): Promise<Response> {
  return Promise.resolve(new Response(JSON.stringify({ error, message: "No." }), { status }));
}

function cut(): Promise<Response> {
  return Promise.reject(new TypeError("Failed to fetch"));
}

const settle = (milliseconds = 0): Promise<unknown> => vi.advanceTimersByTimeAsync(milliseconds);
const sent = (): string[] =>
  calls.map(({ body }) => `${body.number} ${body.answer?.answer ?? "none"}`);

beforeEach(() => {
  vi.useFakeTimers();
  calls = [];
  states = [];
  saved = [];
  refused = [];
  reply = () => ok();
  vi.stubGlobal("fetch", (url: string, init: RequestInit) => {
    const call = { url, init, body: JSON.parse(init.body as string) };
    calls.push(call);
    return reply(call);
  });
  saver = new Saver({
    api: apiOf({ api: "/hits/api/", token: "ticket" }),
    onState: (state) => states.push(state),
    onSaved: (number, answer) => saved.push(`${number} ${answer.answer}`),
    onRefused: (number, _answer, why) => refused.push(`${number} ${why.kind}`),
  });
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test("an answer goes out at once, with the ticket, and is reported as saved", async () => {
  saver.put(1, yes);
  expect(states).toEqual(["saving"]);
  await settle();
  expect(calls[0]?.url).toBe("/hits/api/draft");
  expect(new Headers(calls[0]?.init.headers).get("Authorization")).toBe("Bearer ticket");
  expect(saved).toEqual(["1 yes"]);
  expect(states).toEqual(["saving", "saved"]);
});

test("a blank answer takes back what the server has", async () => {
  saver.put(1, answerWith({ milliseconds: 900 }));
  await settle();
  expect(sent()).toEqual(["1 none"]);
});

test("changes while one is under way become one more request", async () => {
  let answerFirst = (_: Response): void => undefined;
  reply = () =>
    new Promise((resolve) => {
      answerFirst = resolve;
    });
  saver.put(1, yes);
  saver.put(1, no);
  saver.put(1, yes);
  saver.put(1, no);
  await settle();
  expect(sent()).toEqual(["1 yes"]);
  reply = () => ok();
  answerFirst(new Response("{}"));
  await settle();
  expect(sent()).toEqual(["1 yes", "1 no"]);
  expect(states.at(-1)).toBe("saved");
});

test("typing is sent when it pauses", async () => {
  saver.put(1, answerWith({ answer: "yes", comment: "b" }), 500);
  await settle(300);
  saver.put(1, answerWith({ answer: "yes", comment: "bl" }), 500);
  await settle(300);
  expect(calls).toHaveLength(0);
  await settle(200);
  expect(calls).toHaveLength(1);
});

describe("without a connection", () => {
  test("it tries again, more and more rarely, until the answer is in", async () => {
    reply = cut;
    saver.put(1, yes);
    await settle();
    expect(states.at(-1)).toBe("retrying");
    await settle(999);
    expect(calls).toHaveLength(1);
    await settle(1);
    expect(calls).toHaveLength(2);
    await settle(2000);
    expect(calls).toHaveLength(3);
    reply = () => ok();
    await settle(4000);
    expect(saved).toEqual(["1 yes"]);
    expect(states.at(-1)).toBe("saved");
  });

  test("the newest answer goes out when it is back, at once", async () => {
    reply = cut;
    saver.put(1, yes);
    await settle();
    saver.put(1, no);
    saver.put(2, yes);
    await settle();
    expect(calls).toHaveLength(1);
    reply = () => ok();
    saver.retryNow();
    await settle();
    expect(saved).toEqual(["1 no", "2 yes"]);
  });

  test("the browser's own word for it is passed on", async () => {
    vi.stubGlobal("navigator", { onLine: false });
    reply = cut;
    saver.put(1, yes);
    await settle();
    expect(states.at(-1)).toBe("offline");
  });

  test("a server in trouble is like no server", async () => {
    reply = () => Promise.resolve(new Response("<h1>Bad gateway</h1>", { status: 502 }));
    saver.put(1, yes);
    await settle();
    expect(states.at(-1)).toBe("retrying");
    expect(refused).toEqual([]);
  });
});

test("what the server refuses is not sent again", async () => {
  reply = () => problem(409, "finished");
  saver.put(1, yes);
  await settle(60_000);
  expect(refused).toEqual(["1 finished"]);
  expect(calls).toHaveLength(1);
});

describe("when the page may go away", () => {
  test("everything goes out at once in requests that outlive it", async () => {
    saver.put(1, yes, 5000);
    saver.put(2, no, 5000);
    saver.flush();
    expect(sent()).toEqual(["1 yes", "2 no"]);
    expect(calls.every(({ init }) => init.keepalive)).toBe(true);
    await settle();
    expect(saved).toEqual(["1 yes", "2 no"]);
    await settle(60_000);
    expect(calls).toHaveLength(2);
  });

  test("an older answer under way is cut off, so that it cannot overtake", async () => {
    reply = () => new Promise(() => undefined);
    saver.put(1, yes);
    await settle();
    saver.put(1, no);
    reply = () => ok();
    saver.flush();
    await settle();
    expect(calls[0]?.init.signal?.aborted).toBe(true);
    expect(saved).toEqual(["1 no"]);
  });
});

test("nothing is sent after stopping", async () => {
  reply = cut;
  saver.put(1, yes);
  await settle();
  saver.stop();
  await settle(60_000);
  expect(calls).toHaveLength(1);
  expect(states.at(-1)).toBe("saved");
});

test("waits double up to half a minute", () => {
  expect([1, 2, 3, 6, 60].map(waitAfter)).toEqual([1000, 2000, 4000, 30_000, 30_000]);
});
