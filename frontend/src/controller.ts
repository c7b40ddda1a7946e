// One sitting from opening to submitting: connects the reducer, the browser's store and the server.

import { type Api, RequestProblem } from "./api";
import type { Fields, Snapshot } from "./phases";
import type { Answer, Page, Saved, Score, Sitting, Way } from "./protocol";
import { untilReached } from "./retrying";
import { Saver } from "./saving";
import {
  answersOf,
  BLANK,
  begin,
  type Entry,
  isAnswered,
  type Kept,
  missing,
  printOf,
  reduce,
  unsent,
} from "./sitting";
import type { SittingStore } from "./store";

/** Long enough to see which answer was chosen, short enough not to feel like waiting. */
const GO_ON_AFTER = 220;

export class Controller {
  private now: Snapshot;
  private kept: Record<number, Kept> = {};
  private saver: Saver | null = null;
  private readonly listeners = new Set<() => void>();
  private goingOn: ReturnType<typeof setTimeout> | undefined;
  private runningOut: ReturnType<typeof setTimeout> | undefined;
  private loads = 0;
  /** The sitting is being loaded: the reply may miss answers that are saved meanwhile. */
  private loading = false;

  constructor(
    private readonly page: Page,
    private readonly api: Api,
    private readonly store: SittingStore,
  ) {
    this.now = {
      phase: page.consent ? { kind: "consent" } : { kind: "loading", failures: 0 },
      sitting: null,
      standing: null,
      withheld: false,
      ways: [],
      way: "drag",
      save: "saved",
      deadline: Number.POSITIVE_INFINITY,
      finishing: "no",
      notice: "",
      attempt: 0,
    };
  }

  get snapshot(): Snapshot {
    return this.now;
  }

  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  private set(change: Partial<Snapshot>): void {
    this.now = { ...this.now, ...change };
    for (const listener of this.listeners) listener();
  }

  /** Whether an answer that was given can no longer be changed. */
  isLocked(entry: Entry): boolean {
    const final = this.page.mode === "test" && isAnswered(entry);
    return final || this.now.finishing !== "no";
  }

  /** Whether feedback follows every answer. */
  get explains(): boolean {
    return this.page.mode === "test" && !this.now.withheld;
  }

  /** Positions that must be answered before the sitting can be submitted. */
  get open(): readonly number[] {
    const state = this.now.sitting;
    if (!state) return [];
    if (!this.explains) return missing(state);
    return state.entries.flatMap((entry, index) => (entry.feedback ? [] : [index]));
  }

  async agree(version: number): Promise<void> {
    try {
      await this.api.consent(version);
    } catch (error) {
      if (error instanceof RequestProblem && error.passing) this.set({ notice: error.message });
      else this.fail(error);
      return;
    }
    this.set({ phase: { kind: "loading", failures: 0 }, notice: "" });
    await this.load();
  }

  /** Load the sitting from the server, and answers that never reached it from the browser. */
  async load(when: "before" | "otherwise" = "before"): Promise<void> {
    const turn = ++this.loads;
    this.loading = true;
    clearTimeout(this.goingOn);
    const goOn = (failures: number): boolean => {
      // A sitting on the screen stays there: its answers are safe in the queue.
      const quiet = this.now.phase.kind === "asking" || turn !== this.loads;
      if (!quiet) this.set({ phase: { kind: "loading", failures } });
      return turn === this.loads;
    };
    try {
      const sitting = await untilReached(() => this.api.open(), goOn);
      if (sitting && turn === this.loads) this.opened(sitting, when);
    } catch (error) {
      if (turn === this.loads) this.fail(error);
    }
    if (turn === this.loads) this.loading = false;
  }

  private opened(sitting: Sitting, when: "before" | "otherwise"): void {
    this.saver?.stop();
    this.set({ standing: sitting.standing, withheld: sitting.withheld });
    if (sitting.finished) {
      this.finished(sitting.fields ?? {}, sitting.score, when);
      return;
    }
    if (sitting.items.length === 0) {
      this.set({ phase: { kind: "empty", why: sitting.empty } });
      return;
    }
    const kept = this.store.load();
    const state = begin(sitting.items, kept, Date.now(), !document.hidden);
    this.kept = { ...kept?.questions };
    this.saver = this.newSaver();
    this.set({
      phase: { kind: "asking" },
      sitting: state,
      ways: sitting.ways,
      way:
        sitting.ways.includes(this.now.way) && this.now.sitting ? this.now.way : firstWay(sitting),
      save: "saved",
      deadline: this.watchTime(sitting.secondsLeft),
      finishing: "no",
      attempt: this.now.attempt + 1,
    });
    for (const number of unsent(state)) this.send(number);
  }

  /** End the sitting when its time is up, and return when that is. */
  private watchTime(secondsLeft: number): number {
    clearTimeout(this.runningOut);
    // A test reserves no questions.
    if (this.page.mode === "test") return Number.POSITIVE_INFINITY;
    // A timer cannot wait longer than this; no sitting does.
    const wait = Math.min(secondsLeft * 1000, 2 ** 31 - 1);
    this.runningOut = setTimeout(() => {
      this.fail(
        new RequestProblem(
          "expired",
          "The questions have been released, so that others can answer them. Reload the page to get new ones.",
        ),
      );
    }, wait);
    return Date.now() + secondsLeft * 1000;
  }

  private newSaver(): Saver {
    return new Saver({
      api: this.api,
      onState: (save) => this.set({ save }),
      onSaved: (number, answer, saved) => this.saved(number, answer, saved),
      onRefused: (number, _answer, problem) => this.refused(number, problem),
    });
  }

  private saved(number: number, answer: Answer, saved: Saved): void {
    const kept = this.kept[number];
    if (kept && kept.answer === answer && !this.loading) {
      this.kept[number] = { ...kept, sent: true };
      this.persist();
    }
    if (typeof saved.secondsLeft === "number") {
      this.set({ deadline: this.watchTime(saved.secondsLeft) });
    }
    if (saved.feedback && this.now.sitting) {
      const feedback = { type: "feedback", number, feedback: saved.feedback } as const;
      this.set({ sitting: reduce(this.now.sitting, feedback), notice: "" });
    }
  }

  private refused(number: number, problem: RequestProblem): void {
    if (problem.kind === "bad_request" || problem.kind === "answered") {
      delete this.kept[number];
      this.persist();
    }
    if (problem.kind === "bad_request" && this.now.sitting) {
      const sitting = reduce(this.now.sitting, { type: "take_back", number });
      this.set({ notice: problem.message, sitting });
    } else if (problem.kind === "finished" || problem.kind === "answered") {
      void this.load("otherwise");
    } else this.fail(problem);
  }

  private fail(error: unknown): void {
    this.saver?.stop();
    clearTimeout(this.runningOut);
    const problem =
      error instanceof RequestProblem
        ? error
        : new RequestProblem("server", "Something went wrong on this page.");
    this.set({ phase: { kind: "problem", problem }, finishing: "no" });
  }

  private answerTo(number: number): Answer {
    const state = this.now.sitting;
    const index = state?.items.findIndex((item) => item.number === number) ?? -1;
    return state?.entries[index]?.answer ?? BLANK;
  }

  /** Change the answer to the question in view; keep it at once, send it after `delay`. */
  change(change: Partial<Answer>, delay = 0): void {
    const state = this.now.sitting;
    const item = state?.items[state.position];
    const before = state?.entries[state.position];
    if (!state || !item || !before || this.isLocked(before)) return;
    const sitting = reduce(state, { type: "change", change, now: Date.now() });
    this.set({ sitting, notice: "" });
    const answer = this.answerTo(item.number);
    this.kept[item.number] = { print: printOf(item), answer, sent: false };
    this.persist();
    this.send(item.number, delay);
  }

  private send(number: number, delay = 0): void {
    const answer = this.answerTo(number);
    // In a test a remark is sent together with its answer, which is final.
    if (this.page.mode === "test" && answer.answer === "") return;
    this.saver?.put(number, answer, delay);
  }

  /** Give an answer, and go on to the next question if `goOn` is set. */
  answer(change: Partial<Answer>, goOn: boolean): void {
    clearTimeout(this.goingOn);
    this.change(change);
    const state = this.now.sitting;
    if (!goOn || !state || this.explains) return;
    const { position } = state;
    this.goingOn = setTimeout(() => {
      if (this.now.sitting?.position === position) this.go(position + 1);
    }, GO_ON_AFTER);
  }

  go(position: number): void {
    const state = this.now.sitting;
    clearTimeout(this.goingOn);
    if (!state || position < 0 || position >= state.items.length) return;
    this.set({ sitting: reduce(state, { type: "go", position, now: Date.now() }), notice: "" });
    this.persist();
  }

  setWay(way: Way): void {
    this.set({ way });
  }

  look(looking: boolean): void {
    const state = this.now.sitting;
    if (state) this.set({ sitting: reduce(state, { type: "look", looking, now: Date.now() }) });
    if (!looking) this.saver?.flush();
  }

  retryNow(): void {
    this.saver?.retryNow();
  }

  private persist(): void {
    const position = this.now.sitting?.position ?? 0;
    this.store.save({ position, questions: this.kept });
  }

  /** Submit all answers. Calling it again while it is under way does nothing. */
  async finish(): Promise<void> {
    const state = this.now.sitting;
    if (!state || this.now.finishing !== "no" || this.open.length > 0) return;
    clearTimeout(this.goingOn);
    this.set({ finishing: "sending", notice: "" });
    // All answers are sent together, so drafts are no longer needed. But nothing is saved yet.
    this.saver?.stop();
    this.set({ save: "saving" });
    const goOn = (): boolean => {
      if (this.now.finishing === "no") return false;
      this.set({ finishing: "retrying", save: "retrying" });
      return true;
    };
    try {
      const done = await untilReached(() => this.api.finish(answersOf(state)), goOn);
      if (done) {
        this.set({ standing: done.standing ?? this.now.standing });
        this.finished(done.fields, done.score, "now");
      }
    } catch (error) {
      this.notFinished(error);
    }
  }

  private notFinished(error: unknown): void {
    const kind = error instanceof RequestProblem ? error.kind : "server";
    if (kind === "finished") void this.load("otherwise");
    else if (kind === "incomplete" || kind === "bad_request") {
      this.set({ finishing: "no", notice: (error as RequestProblem).message });
      void this.load();
    } else this.fail(error);
  }

  private finished(
    fields: Fields,
    score: Score | null,
    when: "now" | "before" | "otherwise",
  ): void {
    clearTimeout(this.runningOut);
    this.saver?.stop();
    // Ignore the reply to a load that is still under way: the sitting is over.
    this.loads += 1;
    this.loading = false;
    this.store.clear();
    this.kept = {};
    this.set({
      phase: { kind: "finished", fields, score, when },
      finishing: "no",
      save: "saved",
      attempt: this.now.attempt + 1,
    });
  }
}

function firstWay(sitting: Sitting): Way {
  return sitting.ways[0] ?? "drag";
}
