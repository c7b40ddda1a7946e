// The four endpoints, with the token, a time limit, and problems in plain words.

import type { Answer, Finished, NumberedAnswer, Page, Problem, Saved, Sitting } from "./protocol";

const TIME_LIMIT = 20_000;

export type ProblemKind = Problem["error"] | "network" | "server";

/** A request that did not succeed. The message may be shown to a worker as it is. */
export class RequestProblem extends Error {
  constructor(
    readonly kind: ProblemKind,
    message: string,
  ) {
    super(message);
  }

  /** Whether the same request may succeed later. */
  get passing(): boolean {
    return this.kind === "network" || this.kind === "server";
  }
}

export interface SendOptions {
  /** Let the request outlive the page. */
  readonly keepalive?: boolean;
  readonly signal?: AbortSignal;
}

export interface Api {
  open(): Promise<Sitting>;
  draft(number: number, answer: Answer | null, options?: SendOptions): Promise<Saved>;
  finish(answers: readonly NumberedAnswer[]): Promise<Finished>;
  consent(version: number): Promise<void>;
}

export function apiOf(page: Pick<Page, "api" | "token">): Api {
  // A draft that arrives late must not replace a newer one, nor end up in a later sitting: drafts
  // name their sitting and the time they were sent, by the server's clock.
  let sitting = 0;
  let token = page.token;
  let ahead = 0;
  let last = 0;
  const clock = (): number => {
    last = Math.max(last + 1, Math.round(Date.now() + ahead));
    return last;
  };
  const post = <Reply>(name: string, body: unknown, options: SendOptions = {}): Promise<Reply> =>
    send<Reply>(`${page.api}${name}`, token, body, options);
  return {
    open: async () => {
      const opened = await post<Sitting>("open", {});
      sitting = opened.id;
      ahead = opened.clock - Date.now();
      return opened;
    },
    draft: (number, answer, options) =>
      post("draft", { sitting, at: clock(), number, answer }, options),
    finish: (answers) => post("finish", { sitting, answers }),
    consent: async (version) => {
      const saved = await post<Saved>("consent", { version });
      // Before the server may record the worker, the token itself carries their consent.
      token = saved.token || token;
    },
  };
}

async function send<Reply>(
  url: string,
  token: string,
  body: unknown,
  options: SendOptions,
): Promise<Reply> {
  // By hand: AbortSignal.timeout and AbortSignal.any are too new for some browsers.
  const ending = new AbortController();
  const end = (): void => ending.abort();
  const timer = setTimeout(end, TIME_LIMIT);
  options.signal?.addEventListener("abort", end);
  let response: Response;
  let text: string;
  try {
    response = await fetch(url, {
      method: "POST",
      headers: { "Content-Type": "application/json", Authorization: `Bearer ${token}` },
      body: JSON.stringify(body, readable),
      credentials: "omit",
      cache: "no-store",
      keepalive: options.keepalive ?? false,
      signal: ending.signal,
    });
    text = await response.text();
  } catch {
    throw new RequestProblem("network", "The server cannot be reached. Check your connection.");
  } finally {
    clearTimeout(timer);
  }
  if (response.ok) return readJson(text) as Reply;
  throw problemOf(response.status, text);
}

/** Replace NUL and half emojis, which a length limit may leave: the server would refuse the whole
 * answer because of them. */
function readable(_name: string, value: unknown): unknown {
  return typeof value === "string" ? value.replace(/[\0\p{Cs}]/gu, "\ufffd") : value;
}

function readJson(text: string): unknown {
  if (text.trim() === "") return {};
  try {
    return JSON.parse(text);
  } catch {
    // A proxy or a hotel's sign-in page in between may answer with anything.
    throw new RequestProblem("server", "The server sent a reply that this page cannot read.");
  }
}

function problemOf(status: number, text: string): RequestProblem {
  if (status < 500 && status !== 429 && status !== 408) {
    const problem = readProblem(text);
    if (problem) return new RequestProblem(problem.error, problem.message);
  }
  return new RequestProblem("server", `The server has a problem (${status}).`);
}

function readProblem(text: string): Problem | null {
  try {
    const value = JSON.parse(text) as Partial<Problem> | null;
    const fine = typeof value?.error === "string" && typeof value.message === "string";
    return fine ? (value as Problem) : null;
  } catch {
    return null;
  }
}
