import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { apiOf } from "./api";
import { answerWith, pageOf, sittingOf } from "./testing";

const yes = answerWith({ answer: "yes" });

/** A server that never answers: the request ends when it is given up. */
function silent(_url: string, { signal }: RequestInit): Promise<Response> {
  return new Promise((_resolve, reject) => {
    signal?.addEventListener("abort", () => reject(new DOMException("aborted", "AbortError")));
  });
}

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test("answers are saved by browsers of a few years ago, too", async () => {
  // AbortSignal.timeout came with Safari 16, AbortSignal.any with 17.4.
  vi.stubGlobal("AbortSignal", class {});
  vi.stubGlobal("fetch", async () => new Response('{"feedback": null}'));
  const { signal } = new AbortController();
  expect(await apiOf(pageOf()).draft(1, yes, { signal })).toEqual({ feedback: null });
});

test("a server that does not answer is given up after a while", async () => {
  vi.stubGlobal("fetch", silent);
  const asked = expect(apiOf(pageOf()).open()).rejects.toMatchObject({ kind: "network" });
  await vi.advanceTimersByTimeAsync(20_000);
  await asked;
});

test("a draft that is called off ends at once", async () => {
  vi.stubGlobal("fetch", silent);
  const flight = new AbortController();
  const sent = apiOf(pageOf()).draft(1, yes, { signal: flight.signal });
  flight.abort();
  await expect(sent).rejects.toMatchObject({ kind: "network" });
  expect(vi.getTimerCount()).toBe(0);
});

test("what is sent names its sitting, drafts also their order by the server's clock", async () => {
  const bodies: Record<string, unknown>[] = [];
  vi.stubGlobal("fetch", async (_url: string, init: RequestInit) => {
    bodies.push(JSON.parse(init.body as string));
    return new Response(JSON.stringify(sittingOf([], { id: 7, clock: 5_000_000 })));
  });
  vi.setSystemTime(1000);
  const api = apiOf(pageOf());
  await api.open();
  await api.draft(1, yes);
  await api.draft(1, null);
  vi.setSystemTime(500); // set back by the browser's owner
  await api.draft(1, yes);
  await api.finish([]);
  expect(bodies.slice(1)).toMatchObject([
    { sitting: 7, at: 5_000_000 },
    { sitting: 7, at: 5_000_001 },
    { sitting: 7, at: 5_000_002 },
    { sitting: 7 },
  ]);
});

test("half an emoji or an invalid character in a comment does not get the answer refused", async () => {
  let body = "";
  vi.stubGlobal("fetch", async (_url: string, init: RequestInit) => {
    body = init.body as string;
    return new Response("{}");
  });
  const comment = "a dog \ud83d, \0, 😀";
  await apiOf(pageOf()).draft(1, { ...yes, comment });
  expect(JSON.parse(body).answer.comment).toBe("a dog \ufffd, \ufffd, 😀");
});
