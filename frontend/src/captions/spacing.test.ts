import { describe, expect, test } from "vitest";
import { captionOf } from "../testing";
import { runsOf, textOf } from "./spacing";

const text = (tokens: string): string => textOf(tokens.split(" "));

describe("spacing", () => {
  test.each([
    ["A man , a dog ; and : a cat .", "A man, a dog; and: a cat."],
    ["Really ? Yes ! Well ...", "Really? Yes! Well..."],
    ["the man 's hat and the boys ' hats", "the man's hat and the boys' hats"],
    ["They do n't , they 're here", "They don't, they're here"],
    ["A sign -LRB- red -RRB- and -LSB- x -RSB-", "A sign (red) and [x]"],
    ["it says `` Stop here '' twice", "it says “Stop here” twice"],
    ['a " quoted " word and " another "', 'a "quoted" word and "another"'],
    ["( a ) costs $ 5 , 20 %", "(a) costs $5, 20%"],
    ["a t-shirt - blue", "a t-shirt - blue"],
    ["<b> &amp; </b>", "<b> &amp; </b>"],
  ])("%s", (tokens, expected) => {
    expect(text(tokens)).toBe(expected);
  });

  test("of nothing is nothing", () => {
    expect(textOf([])).toBe("");
  });
});

describe("marks", () => {
  const shown = (tokens: string, ...marks: { start: number; end: number }[]): string =>
    runsOf(captionOf(tokens, ...marks))
      .map((run) => (run.mark ? `[${run.mark.mention}:${run.text}]` : run.text))
      .join("");

  test("hold their words and no space around them", () => {
    expect(shown("A man in a hat .", { start: 0, end: 2 }, { start: 3, end: 5 })).toBe(
      "[1:A man] in [2:a hat].",
    );
  });

  test("that touch have their space between them", () => {
    expect(shown("red hat man", { start: 0, end: 2 }, { start: 2, end: 3 })).toBe(
      "[1:red hat] [2:man]",
    );
  });

  test("before a possessive have none", () => {
    expect(shown("the man 's hat", { start: 0, end: 2 })).toBe("[1:the man]'s hat");
  });

  test("that overlap or reach too far lose no word and show none twice", () => {
    expect(shown("a b c d", { start: 0, end: 3 }, { start: 2, end: 9 })).toBe("[1:a b c] [2:d]");
    expect(shown("a b", { start: -2, end: 1 }, { start: 5, end: 6 })).toBe("[1:a] b");
  });
});
