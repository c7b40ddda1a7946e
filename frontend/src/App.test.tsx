import { render } from "preact";
import { act } from "preact/test-utils";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { App } from "./App";
import { Captions } from "./captions/Captions";
import type { Answer, Page, Sitting } from "./protocol";
import { captionOf, itemOf, pageOf, sittingOf } from "./testing";

let root: HTMLElement;
let drafts: { number: number; answer: Answer | null }[];

beforeEach(() => {
  vi.useFakeTimers();
  localStorage.clear();
  document.body.innerHTML = '<div id="task"></div>';
  root = document.getElementById("task") as HTMLElement;
  drafts = [];
});

afterEach(() => {
  render(null, root);
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

async function show(page: Partial<Page>, sitting: Sitting = sittingOf([])): Promise<void> {
  vi.stubGlobal("fetch", async (url: string, init: RequestInit) => {
    if (url.endsWith("draft")) drafts.push(JSON.parse(init.body as string));
    return new Response(JSON.stringify(url.endsWith("open") ? sitting : { feedback: null }));
  });
  await act(() => render(<App page={pageOf(page)} />, root));
  await pass(50);
}

/** Let time pass, and everything that follows from it happen. */
async function pass(milliseconds: number): Promise<void> {
  await act(async () => {
    await vi.advanceTimersByTimeAsync(milliseconds);
  });
  await act(async () => {
    await vi.advanceTimersByTimeAsync(0);
  });
}

async function press(key: string): Promise<void> {
  const event = new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true });
  await act(() => {
    document.body.dispatchEvent(event);
  });
  await pass(400);
}

async function click(label: string): Promise<void> {
  const button = buttons().find((each) => each.textContent?.includes(label));
  if (!button) throw new Error(`no button ${label}`);
  await act(() => button.click());
  await pass(400);
}

const buttons = (): HTMLButtonElement[] => [...root.querySelectorAll("button")];
const text = (selector: string): string => root.querySelector(selector)?.textContent ?? "";
const last = (): Answer | null | undefined => drafts.at(-1)?.answer;

describe("answering", () => {
  test("by key goes on, back by key, and Enter goes on again", async () => {
    await show({}, sittingOf([itemOf(1), itemOf(2)]));
    expect(text(".count")).toBe("1 of 2");
    await press("y");
    expect(text(".count")).toBe("2 of 2");
    expect(last()).toMatchObject({ answer: "yes" });
    await press("p");
    expect(text(".count")).toBe("1 of 2");
    expect(text('[aria-pressed="true"]')).toContain("Yes");
    await press("Enter");
    expect(text(".count")).toBe("2 of 2");
  });

  test("the worker cannot submit before the last answer", async () => {
    await show({}, sittingOf([itemOf(1), itemOf(2)]));
    const submit = (): string | null | undefined =>
      root.querySelector(".submit")?.getAttribute("aria-disabled");
    expect(text(".submit")).toContain("2 left");
    await press("n");
    expect(submit()).toBe("true");
    await press("n");
    expect(submit()).toBe("false");
  });

  test("submit with questions left goes to the first of them", async () => {
    await show({}, sittingOf([itemOf(1), itemOf(2)]));
    await press("Enter");
    expect(text(".count")).toBe("2 of 2");
    await click("Submit");
    expect(text(".count")).toBe("1 of 2");
  });

  test("typing in the comment does not answer the question", async () => {
    await show({}, sittingOf([itemOf(1)]));
    const field = root.querySelector("textarea") as HTMLTextAreaElement;
    await act(() => {
      field.dispatchEvent(new KeyboardEvent("keydown", { key: "y", bubbles: true }));
    });
    expect(root.querySelector('[aria-pressed="true"]')).toBeNull();
  });

  test("coverage says true and false and sends yes and no", async () => {
    await show({ stage: "coverage" }, sittingOf([itemOf(1)]));
    await press("f");
    expect(text('[aria-pressed="true"]')).toContain("False");
    expect(last()).toMatchObject({ answer: "no" });
  });

  test("a bad box may have reasons, and a good one loses them", async () => {
    await show({ stage: "quality" }, sittingOf([itemOf(1), itemOf(2)]));
    await press("b");
    expect(text(".count")).toBe("1 of 2");
    await press("3");
    await press("2");
    expect(last()).toMatchObject({ answer: "bad", reasons: ["not_tight", "several_things"] });
    await press("g");
    expect(last()).toMatchObject({ answer: "good", reasons: [] });
  });

  test("flags name the phrase and the caption", async () => {
    await show({}, sittingOf([itemOf(1)]));
    await press("y");
    for (const box of root.querySelectorAll<HTMLInputElement>(".flag input")) {
      await act(() => box.click());
      await pass(1000);
    }
    expect(last()).toMatchObject({ answer: "yes", cutWrongly: [1], unrelated: [1] });
  });
});

test("captions are text, whatever they hold", async () => {
  const hostile = '<img src=x onerror=alert(1)> " مرحبا 👩‍👩‍👧 **bold** {phrase}';
  await show({}, sittingOf([itemOf(1, { captions: [captionOf(hostile)], phrase: "<b>x</b>" })]));
  expect(text(".caption")).toContain("<img src=x onerror=alert(1)>");
  expect(root.querySelector(".caption img, .caption b, .asked b")).toBeNull();
  expect(text(".asked")).toBe("Is “<b>x</b>” the same?");
});

test("several marks have numbers, and colours begin again", () => {
  const marks = Array.from({ length: 7 }, (_, at) => ({ start: at, end: at + 1 }));
  render(
    <Captions
      captions={[{ ...captionOf("a b c d e f g", ...marks), number: 1 }, captionOf("h")]}
    />,
    root,
  );
  const shown = [...root.querySelectorAll("mark")];
  expect(shown.map((mark) => mark.className)).toContain("mark mark-6");
  expect(shown[6]?.className).toBe("mark mark-1");
  expect(shown[6]?.textContent).toBe("g (phrase 7)");
});

test("a photo that is missing keeps the question from being answered, and says what to do", async () => {
  const photo = { url: "", width: 10, height: 10 };
  await show({}, sittingOf([itemOf(1, { photo })]));
  await press("y");
  expect(drafts).toEqual([]);
  expect(text(".notice")).toContain("Return");
});

test.each([
  ["with_others", "Other workers"],
  ["nothing_left", "has been answered"],
] as const)("an empty sitting (%s) is explained", async (empty, words) => {
  await show({}, sittingOf([], { empty }));
  expect(text("main")).toContain(words);
  expect(text("main")).toContain("Return");
});

test("a finished sitting is submitted only on demand, once", async () => {
  const submit = vi.spyOn(HTMLFormElement.prototype, "submit").mockImplementation(() => undefined);
  await show({}, sittingOf([], { finished: true, fields: { sitting: "7", submit: "x" } }));
  expect(submit).not.toHaveBeenCalled();
  await click("Submit to the marketplace again");
  await click("Submitting");
  expect(submit).toHaveBeenCalledTimes(1);
  const form = document.querySelector("form[method=post]") as HTMLFormElement;
  expect(form.getAttribute("action")).toBe("https://market.example/mturk/externalSubmit");
  const fields = [...form.querySelectorAll("input")].map(({ name, value }) => [name, value]);
  expect(Object.fromEntries(fields)).toEqual({
    sitting: "7",
    submit: "x",
    assignmentId: "ASSIGNMENT",
  });
  submit.mockRestore();
});

test("a score says what was reached and what is needed", async () => {
  const score = { right: 7, asked: 10, needed: 0.8, passed: false };
  await show({ mode: "test" }, sittingOf([], { finished: true, fields: {}, score }));
  expect(text("h1")).toContain("did not pass");
  expect(text(".score")).toContain("7 of 10 right");
  expect(text(".score")).toContain("80%");
});

test("a preview shows its question and takes no answer", async () => {
  await show({ mode: "preview", items: [itemOf(1)] });
  expect(text(".banner")).toContain("This is a preview.");
  expect([...root.querySelectorAll<HTMLButtonElement>(".answer")].every((b) => b.disabled)).toBe(
    true,
  );
  expect(root.querySelector(".submit")).toBeNull();
});

test("a preview without an example has the guidelines", async () => {
  await show({ mode: "preview" });
  expect(text("main")).toContain("Select Yes if it is.");
});

test("examples have the expected answer in the words of the buttons, and why", async () => {
  const feedback = { right: null, expected: "no", expectedRects: [], why: "Two **dogs**." };
  await show({ mode: "examples", stage: "coverage", items: [itemOf(1, { feedback })] });
  expect(text(".expected-answer strong")).toBe("False");
  expect(text(".feedback")).toContain("Two dogs.");
});

test("not agreeing asks nothing and says how to leave", async () => {
  await show({ consent: { version: 1, title: "The study", paragraphs: ["It is **small**."] } });
  expect(text(".card strong")).toBe("small");
  await click("I do not agree");
  expect(text("main")).toContain("Return");
});

test("coming back to the text about the study does not skip it", async () => {
  const consent = { version: 1, title: "The study", paragraphs: ["It is small."] };
  await show({ consent }, sittingOf([itemOf(1)]));
  const back = new Event("pageshow");
  Object.defineProperty(back, "persisted", { value: true });
  await act(() => void window.dispatchEvent(back));
  await pass(50);
  expect(text("h1")).toBe("The study");
});

test("a problem is shown as it came", async () => {
  await show({ mode: "problem", problem: { title: "Not yours", text: "Sign in." } });
  expect(text("h1")).toBe("Not yours");
});
