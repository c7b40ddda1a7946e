import { expect, test } from "vitest";
import { proseParts } from "./prose";

const shown = (text: string): string =>
  proseParts(text)
    .map((part) => (part.bold ? `<${part.text}>` : part.text))
    .join("|");

test("words between pairs of stars are bold", () => {
  expect(shown("Select **True** if **all** fit")).toBe("Select |<True>| if |<all>| fit");
  expect(shown("**All** of it")).toBe("<All>| of it");
});

test("nothing else is markup", () => {
  expect(shown("<b>x</b> *y* _z_")).toBe("<b>x</b> *y* _z_");
});

test("stars without a partner are shown", () => {
  expect(shown("5 ** 2")).toBe("5 |** 2");
  expect(shown("**a** and **b")).toBe("<a>| and |**b");
  expect(shown("")).toBe("");
});
