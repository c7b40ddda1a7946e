import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { apiOf } from "./api";
import { answerWith, pageOf } from "./testing";

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

test("half an emoji in a comment, or a sign that is no text, does not get the answer refused", async () => {
  let body = "";
  vi.stubGlobal("fetch", async (_url: string, init: RequestInit) => {
    body = init.body as string;
    return new Response("{}");
  });
  const comment = "a dog \ud83d, \0, 😀";
  await apiOf(pageOf()).draft(1, { ...yes, comment });
  expect(JSON.parse(body).answer.comment).toBe("a dog \ufffd, \ufffd, 😀");
});
