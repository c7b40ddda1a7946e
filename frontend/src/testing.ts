// Sample values for tests.

import type { Answer, Caption, Item, Mark, Page, Sitting } from "./protocol";
import { BLANK } from "./sitting";

export function answerWith(change: Partial<Answer>): Answer {
  return { ...BLANK, ...change };
}

export function captionOf(text: string, ...marks: readonly Partial<Mark>[]): Caption {
  const full = marks.map((mark, index) => ({
    mention: index + 1,
    start: 0,
    end: 1,
    colour: index + 1,
    ...mark,
  }));
  return { number: 1, tokens: text.split(" "), marks: full };
}

export function itemOf(number: number, change: Partial<Item> = {}): Item {
  return {
    number,
    photo: { url: `/photos/${number}.jpg?signed`, width: 640, height: 480 },
    captions: [captionOf(`A dog runs past house ${number} .`, { start: 0, end: 2 })],
    phrase: "A dog",
    boxes: [],
    candidate: null,
    answer: null,
    feedback: null,
    ...change,
  };
}

export function sittingOf(items: readonly Item[], change: Partial<Sitting> = {}): Sitting {
  return {
    id: 7,
    clock: 1_000_000,
    items,
    ways: [],
    secondsLeft: 3600,
    finished: false,
    fields: null,
    score: null,
    empty: "",
    standing: null,
    withheld: false,
    ...change,
  };
}

export function pageOf(change: Partial<Page> = {}): Page {
  return {
    mode: "work",
    stage: "links",
    guide: {
      title: "Coreference Links",
      question: "Is “{phrase}” the same?",
      guidelines: ["Select **Yes** if it is."],
      examplesUrl: "/examples",
    },
    api: "/hits/api/",
    token: "ticket",
    submitUrl: "https://market.example/mturk/externalSubmit",
    assignmentId: "ASSIGNMENT",
    sittingKey: "worker-at-assignment",
    consent: null,
    items: [],
    problem: null,
    ...change,
  };
}
