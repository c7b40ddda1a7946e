import { describe, expect, test } from "vitest";
import {
  answersOf,
  BLANK,
  begin,
  type KeptSitting,
  missing,
  printOf,
  reduce,
  type State,
  unsent,
} from "./sitting";
import { answerWith, itemOf } from "./testing";

const items = [itemOf(1), itemOf(2), itemOf(3)];
const yes = answerWith({ answer: "yes", milliseconds: 700 });
const no = answerWith({ answer: "no", milliseconds: 900 });

function keptOf(number: number, change: Partial<KeptSitting["questions"][number]>): KeptSitting {
  const print = printOf(itemOf(number));
  return { position: 1, questions: { [number]: { print, answer: no, sent: false, ...change } } };
}

function answerAt(state: State, index: number): string | undefined {
  return state.entries[index]?.answer.answer;
}

describe("beginning", () => {
  test("goes to the first question without an answer", () => {
    expect(begin([itemOf(1, { answer: yes }), itemOf(2)], null, 0).position).toBe(1);
  });

  test("goes to the last question where all are answered", () => {
    const all = [itemOf(1, { answer: yes }), itemOf(2, { answer: no })];
    expect(begin(all, null, 0).position).toBe(1);
  });

  test("goes where the worker was, also if that is answered", () => {
    const all = [itemOf(1, { answer: yes }), itemOf(2)];
    expect(begin(all, { position: 0, questions: {} }, 0).position).toBe(0);
    expect(begin(all, { position: 9, questions: {} }, 0).position).toBe(1);
  });

  test("an answer that never reached the server wins, and is to be sent", () => {
    const state = begin([itemOf(1, { answer: yes })], keptOf(1, { sent: false }), 0);
    expect(answerAt(state, 0)).toBe("no");
    expect(unsent(state)).toEqual([1]);
  });

  test("the server's answer wins over one that it had before", () => {
    const state = begin([itemOf(1, { answer: yes })], keptOf(1, { sent: true }), 0);
    expect(answerAt(state, 0)).toBe("yes");
    expect(unsent(state)).toEqual([]);
  });

  test("an answer that the server has lost is sent again", () => {
    const state = begin([itemOf(1)], keptOf(1, { sent: true }), 0);
    expect(answerAt(state, 0)).toBe("no");
    expect(unsent(state)).toEqual([1]);
  });

  test("an answer to another question under the same number is left alone", () => {
    const state = begin([itemOf(1, { phrase: "A cat" })], keptOf(1, {}), 0);
    expect(answerAt(state, 0)).toBe("");
  });

  test("a comment without an answer is kept, sent, and no answer", () => {
    const comment = answerWith({ comment: "blurred" });
    const state = begin([itemOf(1)], keptOf(1, { answer: comment }), 0);
    expect(state.entries[0]?.answer.comment).toBe("blurred");
    expect(unsent(state)).toEqual([1]);
    expect(missing(state)).toEqual([0]);
    expect(unsent(begin([itemOf(1, { answer: comment })], null, 0))).toEqual([]);
  });

  test("taking an answer back reaches the server too", () => {
    const state = begin([itemOf(1, { answer: yes })], keptOf(1, { answer: BLANK }), 0);
    expect(unsent(state)).toEqual([1]);
  });

  test("a judged answer of a test cannot be changed from here", () => {
    const feedback = { right: true, expected: "yes", expectedRects: [], why: "It is." };
    const state = begin([itemOf(1, { answer: yes, feedback })], keptOf(1, {}), 0);
    expect(answerAt(state, 0)).toBe("yes");
    expect(state.entries[0]?.feedback).toBe(feedback);
  });
});

test("what a question shows does not depend on the photo's address", () => {
  const photo = { ...itemOf(1).photo, url: "/photos/1.jpg?later" };
  expect(printOf(itemOf(1, { photo }))).toBe(printOf(itemOf(1)));
  expect(printOf(itemOf(1, { boxes: [[1, 1, 5, 5]] }))).not.toBe(printOf(itemOf(1)));
});

describe("time", () => {
  test("counts for each question while it is in view, over several visits", () => {
    let state = begin(items, null, 1000);
    state = reduce(state, { type: "go", position: 1, now: 3000 });
    state = reduce(state, { type: "go", position: 0, now: 3500 });
    state = reduce(state, { type: "change", change: { answer: "yes" }, now: 4000 });
    expect(state.entries.map((entry) => entry.spent)).toEqual([2500, 500, 0]);
    expect(state.entries[0]?.answer.milliseconds).toBe(2500);
  });

  test("stands still while the page is hidden", () => {
    let state = begin(items, null, 0);
    state = reduce(state, { type: "look", looking: false, now: 1000 });
    state = reduce(state, { type: "look", looking: true, now: 60_000 });
    state = reduce(state, { type: "change", change: { answer: "yes" }, now: 60_500 });
    expect(state.entries[0]?.answer.milliseconds).toBe(1500);
  });

  test("goes on after a reload from where the answer left it", () => {
    let state = begin([itemOf(1, { answer: yes })], null, 0);
    state = reduce(state, { type: "change", change: { answer: "no" }, now: 100 });
    expect(state.entries[0]?.answer.milliseconds).toBe(800);
  });

  test("of the judgment stays when only a comment changes", () => {
    let state = begin(items, null, 0);
    state = reduce(state, { type: "change", change: { answer: "yes" }, now: 100 });
    state = reduce(state, { type: "change", change: { comment: "hm" }, now: 9000 });
    expect(state.entries[0]?.answer).toMatchObject({ comment: "hm", milliseconds: 100 });
  });

  test("never runs backwards, nor past what the server takes", () => {
    let state = begin(items, null, 5000);
    state = reduce(state, { type: "change", change: { answer: "yes" }, now: 1000 });
    expect(state.entries[0]?.answer.milliseconds).toBe(0);
    state = reduce(state, { type: "change", change: { answer: "no" }, now: 1e12 });
    expect(state.entries[0]?.answer.milliseconds).toBe(86_400_000);
  });
});

test("going stays within the sitting", () => {
  const state = begin(items, null, 0);
  expect(reduce(state, { type: "go", position: 7, now: 0 }).position).toBe(2);
  expect(reduce(state, { type: "go", position: -1, now: 0 }).position).toBe(0);
});

test("feedback and taking back find their question by its number", () => {
  const feedback = { right: false, expected: "no", expectedRects: [], why: "It is not." };
  let state = begin([itemOf(4, { answer: yes }), itemOf(7, { answer: yes })], null, 0);
  state = reduce(state, { type: "feedback", number: 7, feedback });
  expect(state.entries.map((entry) => entry.feedback)).toEqual([null, feedback]);
  state = reduce(state, { type: "take_back", number: 4 });
  expect(missing(state)).toEqual([0]);
});

test("all answers go out under their questions' numbers", () => {
  let state = begin([itemOf(4, { answer: yes }), itemOf(7)], null, 0);
  expect(missing(state)).toEqual([1]);
  state = reduce(state, { type: "change", change: { answer: "no" }, now: 50 });
  expect(missing(state)).toEqual([]);
  expect(answersOf(state).map(({ number, answer }) => [number, answer])).toEqual([
    [4, "yes"],
    [7, "no"],
  ]);
});
