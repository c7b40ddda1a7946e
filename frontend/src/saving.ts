// Sends answers to the server: the latest answer to each question, one at a time, until saved.

import { type Api, RequestProblem } from "./api";
import type { Answer, Saved } from "./protocol";
import { waitAfter } from "./retrying";
import { isBlank } from "./sitting";

export type SaveState = "saved" | "saving" | "retrying" | "offline";

interface Pending {
  readonly answer: Answer;
  readonly due: number;
}

export interface SaverOptions {
  readonly api: Pick<Api, "draft">;
  onState(state: SaveState): void;
  onSaved(number: number, answer: Answer, saved: Saved): void;
  /** The server refuses this answer for good. */
  onRefused(number: number, answer: Answer, problem: RequestProblem): void;
}

/** A blank answer is sent as null: the server then deletes the one it had. */
function onWire(answer: Answer): Answer | null {
  return isBlank(answer) ? null : answer;
}

export class Saver {
  private readonly pending = new Map<number, Pending>();
  private flight: AbortController | null = null;
  private failures = 0;
  private retryAt = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private stopped = false;
  private told: SaveState = "saved";

  constructor(private readonly options: SaverOptions) {}

  /** Send this answer, after `delay` milliseconds in which a newer one may take its place. */
  put(number: number, answer: Answer, delay = 0): void {
    this.pending.set(number, { answer, due: Date.now() + delay });
    this.pump();
  }

  isPending(number: number): boolean {
    return this.pending.has(number);
  }

  /** Try again at once: the connection is back. */
  retryNow = (): void => {
    this.retryAt = 0;
    this.pump();
  };

  /** The page may go away: send everything now, by requests that outlive it. */
  flush(): void {
    if (this.stopped || this.pending.size === 0) return;
    // A request under way would be cut off, and must not overtake a newer one.
    this.flight?.abort();
    this.flight = null;
    for (const [number, pending] of [...this.pending]) void this.send(number, pending, true);
  }

  /** Drop pending answers: they were submitted, or can no longer be. */
  stop(): void {
    this.stopped = true;
    clearTimeout(this.timer);
    this.flight?.abort();
    this.flight = null;
    this.pending.clear();
    this.tell();
  }

  private pump(): void {
    clearTimeout(this.timer);
    this.tell();
    if (this.stopped || this.flight) return;
    const [next] = [...this.pending].sort(([, one], [, other]) => one.due - other.due);
    if (!next) return;
    const wait = Math.max(next[1].due, this.retryAt) - Date.now();
    if (wait > 0) this.timer = setTimeout(() => this.pump(), wait);
    else void this.send(next[0], next[1], false);
  }

  private async send(number: number, pending: Pending, keepalive: boolean): Promise<void> {
    const flight = keepalive ? null : new AbortController();
    if (flight) this.flight = flight;
    const signal = flight ? { signal: flight.signal } : {};
    try {
      const saved = await this.options.api.draft(number, onWire(pending.answer), {
        keepalive,
        ...signal,
      });
      if (this.outdated(flight)) return;
      this.failures = 0;
      this.forget(number, pending);
      this.options.onSaved(number, pending.answer, saved);
    } catch (error) {
      if (this.outdated(flight)) return;
      this.failed(number, pending, error);
    }
    if (flight) this.flight = null;
    this.pump();
  }

  private failed(number: number, pending: Pending, error: unknown): void {
    if (error instanceof RequestProblem && !error.passing) {
      this.forget(number, pending);
      this.options.onRefused(number, pending.answer, error);
      return;
    }
    this.failures += 1;
    this.retryAt = Date.now() + waitAfter(this.failures);
  }

  private outdated(flight: AbortController | null): boolean {
    return this.stopped || (flight?.signal.aborted ?? false);
  }

  private forget(number: number, pending: Pending): void {
    if (this.pending.get(number) === pending) this.pending.delete(number);
  }

  private tell(): void {
    const state = this.state();
    if (state === this.told) return;
    this.told = state;
    this.options.onState(state);
  }

  private state(): SaveState {
    if (this.pending.size === 0) return "saved";
    if (this.failures === 0) return "saving";
    return navigator.onLine === false ? "offline" : "retrying";
  }
}
