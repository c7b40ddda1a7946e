// A sitting as the page holds it: the answers, the current question, the time spent on each.
// Pure: each action carries the time.

import type { Answer, Feedback, Item, NumberedAnswer } from "./protocol";

/** An answer before the worker has given one. */
export const BLANK: Answer = {
  answer: "",
  rect: null,
  way: "",
  milliseconds: 0,
  reasons: [],
  cutWrongly: [],
  unrelated: [],
  comment: "",
};

const DAY = 86_400_000;

export interface Entry {
  readonly answer: Answer;
  readonly feedback: Feedback | null;
  /** Milliseconds that the question has been in view so far. */
  readonly spent: number;
}

export interface State {
  readonly items: readonly Item[];
  readonly entries: readonly Entry[];
  readonly position: number;
  /** Since when the current question has been in view; null while the page is hidden. */
  readonly since: number | null;
}

/** What the browser has kept of one question. `sent`: the server has this answer. */
export interface Kept {
  readonly print: string;
  readonly answer: Answer;
  readonly sent: boolean;
}

export interface KeptSitting {
  readonly position: number;
  readonly questions: Readonly<Record<number, Kept>>;
}

export type Action =
  | { readonly type: "change"; readonly change: Partial<Answer>; readonly now: number }
  | { readonly type: "go"; readonly position: number; readonly now: number }
  | { readonly type: "look"; readonly looking: boolean; readonly now: number }
  | { readonly type: "feedback"; readonly number: number; readonly feedback: Feedback }
  | { readonly type: "take_back"; readonly number: number };

/** A fingerprint of what a question shows, without the photo's address, which changes hourly. */
export function printOf(item: Item): string {
  const { photo, captions, phrase, boxes, candidate } = item;
  const text = JSON.stringify([photo.width, photo.height, captions, phrase, boxes, candidate]);
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) {
    hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  }
  return `${text.length.toString(36)}-${(hash >>> 0).toString(36)}`;
}

/** The sitting as it stands: an answer that never reached the server wins over the server's. */
export function begin(
  items: readonly Item[],
  kept: KeptSitting | null,
  now: number,
  looking = true,
): State {
  const entries = items.map((item) => entryOf(item, kept?.questions[item.number]));
  const open = entries.findIndex((entry) => !isAnswered(entry));
  const last = Math.max(0, items.length - 1);
  const position = kept ? Math.min(Math.max(0, kept.position), last) : open < 0 ? last : open;
  return { items, entries, position, since: looking ? now : null };
}

function entryOf(item: Item, kept: Kept | undefined): Entry {
  // An answer in a test is final once it has been graded, and so is the server's feedback.
  const usable = kept && kept.print === printOf(item) && item.feedback === null;
  const answer = usable && (!kept.sent || item.answer === null) ? kept.answer : item.answer;
  return {
    answer: answer ?? BLANK,
    feedback: item.feedback,
    spent: answer?.milliseconds ?? 0,
  };
}

/** Numbers of the questions whose answer the server does not have. */
export function unsent(state: State): readonly number[] {
  return state.items.flatMap((item, index) => {
    const answer = state.entries[index]?.answer ?? BLANK;
    if (isBlank(answer)) return item.answer === null ? [] : [item.number];
    return item.answer !== null && sameAnswer(answer, item.answer) ? [] : [item.number];
  });
}

export function sameAnswer(one: Answer, other: Answer): boolean {
  const keys = Object.keys(BLANK) as (keyof Answer)[];
  return keys.every((key) => JSON.stringify(one[key]) === JSON.stringify(other[key]));
}

/** No answer and no remark: nothing is lost without it. */
export function isBlank({ answer, comment, cutWrongly, unrelated }: Answer): boolean {
  return answer === "" && comment === "" && cutWrongly.length + unrelated.length === 0;
}

export function isAnswered(entry: Entry): boolean {
  return entry.answer.answer !== "";
}

/** Positions of the questions that still have no answer. */
export function missing(state: State): readonly number[] {
  return state.entries.flatMap((entry, index) => (isAnswered(entry) ? [] : [index]));
}

export function answersOf(state: State): readonly NumberedAnswer[] {
  return state.items.map((item, index) => ({
    ...(state.entries[index]?.answer ?? BLANK),
    number: item.number,
  }));
}

export function reduce(state: State, action: Action): State {
  switch (action.type) {
    case "change": {
      const settled = settle(state, action.now);
      return withEntry(settled, settled.position, (entry) => changed(entry, action.change));
    }
    case "go": {
      const position = Math.min(Math.max(0, action.position), state.items.length - 1);
      return { ...settle(state, action.now), position };
    }
    case "look":
      return { ...settle(state, action.now), since: action.looking ? action.now : null };
    case "feedback":
      return withEntry(state, indexOf(state, action.number), (entry) => ({
        ...entry,
        feedback: action.feedback,
      }));
    case "take_back":
      return withEntry(state, indexOf(state, action.number), (entry) => ({
        ...entry,
        answer: { ...entry.answer, answer: "", rect: null, way: "" },
      }));
  }
}

function indexOf(state: State, number: number): number {
  return state.items.findIndex((item) => item.number === number);
}

// A comment is not part of the judgment: only a changed judgment updates the time.
function changed(entry: Entry, change: Partial<Answer>): Entry {
  const judged = "answer" in change || "rect" in change || "reasons" in change;
  const milliseconds = judged ? Math.min(Math.round(entry.spent), DAY) : entry.answer.milliseconds;
  return { ...entry, answer: { ...entry.answer, ...change, milliseconds } };
}

function settle(state: State, now: number): State {
  if (state.since === null) return state;
  const passed = Math.max(0, now - state.since);
  const settled = withEntry(state, state.position, (entry) => ({
    ...entry,
    spent: entry.spent + passed,
  }));
  return { ...settled, since: now };
}

function withEntry(state: State, index: number, change: (entry: Entry) => Entry): State {
  const entries = state.entries.map((entry, at) => (at === index ? change(entry) : entry));
  return { ...state, entries };
}
