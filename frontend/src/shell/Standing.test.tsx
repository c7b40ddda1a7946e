import { render } from "preact";
import { act } from "preact/test-utils";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { App } from "../App";
import type { Sitting, Standing } from "../protocol";
import { answerWith, itemOf, pageOf, sittingOf } from "../testing";

const STANDING: Standing = {
  title: "You are trusted",
  lines: ["Your accuracy is 87%.", "It is <b>updated</b> later."],
};
let root: HTMLElement;

beforeEach(() => {
  vi.useFakeTimers();
  localStorage.clear();
  document.body.innerHTML = '<div id="task"></div>';
  root = document.getElementById("task") as HTMLElement;
});

afterEach(() => {
  render(null, root);
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

async function show(sitting: Sitting, finished: Standing | null = null): Promise<void> {
  vi.stubGlobal("fetch", async (url: string) => {
    const done = { fields: {}, score: null, standing: finished };
    const body = url.endsWith("open") ? sitting : url.endsWith("finish") ? done : {};
    return new Response(JSON.stringify(body));
  });
  await act(() => render(<App page={pageOf()} />, root));
  await pass();
}

async function pass(): Promise<void> {
  await act(async () => {
    await vi.advanceTimersByTimeAsync(400);
  });
}

const lines = (): (string | null)[] =>
  [...root.querySelectorAll(".standing li")].map((each) => each.textContent);

test("beside the questions it is a panel that is closed to begin with", async () => {
  await show(sittingOf([itemOf(1)], { standing: STANDING }));
  const panel = root.querySelector(".help details.standing") as HTMLDetailsElement;
  expect(panel.open).toBe(false);
  expect(panel.querySelector("summary")?.textContent).toBe("Your standing");
  expect(panel.textContent).toContain("You are trusted");
  // Text, whatever it holds.
  expect(lines()).toEqual(STANDING.lines);
});

test.each([
  ["empty", { empty: "nothing_left" }],
  ["finished before", { finished: true, fields: {} }],
] as const)("a page that is %s tells it under a heading of its own", async (_, change) => {
  await show(sittingOf([], { ...change, standing: STANDING }));
  const section = root.querySelector("section.standing");
  const heading = section?.querySelector("h2");
  expect(heading?.textContent).toBe("You are trusted");
  expect(section?.getAttribute("aria-labelledby")).toBe(heading?.id);
  expect(lines()).toEqual(STANDING.lines);
});

test("who has just finished reads what the server says now", async () => {
  const submit = vi.spyOn(HTMLFormElement.prototype, "submit").mockImplementation(() => undefined);
  const item = itemOf(1, { answer: answerWith({ answer: "yes" }) });
  await show(sittingOf([item], { standing: STANDING }), { title: "New words", lines: ["Now."] });
  await act(() => (root.querySelector(".submit") as HTMLButtonElement).click());
  await pass();
  expect(root.querySelector(".standing h2")?.textContent).toBe("New words");
  expect(lines()).toEqual(["Now."]);
  submit.mockRestore();
});

test("there is no standing for an unknown worker", async () => {
  await show(sittingOf([itemOf(1)]));
  expect(root.querySelector(".standing")).toBeNull();
  render(null, root);
  await show(sittingOf([], { empty: "nothing_left" }));
  expect(root.querySelector(".standing")).toBeNull();
});
