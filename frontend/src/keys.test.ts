import { beforeEach, describe, expect, test } from "vitest";
import { keyLabel, pageKey } from "./keys";

/** Press a key on an element and return what the page makes of it. */
function press(
  init: KeyboardEventInit,
  on: Element = document.body,
  clicked: Element | null = null,
): string | null {
  let made: string | null = "not reached";
  const listener = (event: Event): void => {
    made = pageKey(event as KeyboardEvent, clicked);
  };
  document.addEventListener("keydown", listener, { once: true });
  on.dispatchEvent(new KeyboardEvent("keydown", { bubbles: true, cancelable: true, ...init }));
  return made;
}

function element(html: string): Element {
  document.body.innerHTML = html;
  return document.body.firstElementChild as Element;
}

beforeEach(() => {
  document.body.innerHTML = "";
});

test("letters count in either case", () => {
  expect(press({ key: "y" })).toBe("y");
  expect(press({ key: "Y", shiftKey: true })).toBe("y");
  expect(press({ key: "Enter" })).toBe("enter");
  expect(press({ key: "?", shiftKey: true, code: "Slash" })).toBe("?");
});

test("letters are found by their place on other alphabets, digits on a French keyboard", () => {
  expect(press({ key: "н", code: "KeyY" })).toBe("y");
  expect(press({ key: "&", code: "Digit1" })).toBe("1");
  expect(press({ key: "&", code: "Digit7", shiftKey: true })).toBe("&");
});

test("a Latin layout is taken by its letters, not by their places", () => {
  expect(press({ key: "z", code: "KeyY" })).toBe("z");
});

test.each(["ctrlKey", "altKey", "metaKey", "repeat", "isComposing"])("not with %s", (name) => {
  expect(press({ key: "y", [name]: true })).toBeNull();
});

describe("where the focus is", () => {
  test.each(["<textarea></textarea>", "<input>", "<select></select>"])("not in %s", (html) => {
    expect(press({ key: "n" }, element(html))).toBeNull();
  });

  test("letters count on buttons and checkboxes, Enter is theirs", () => {
    for (const html of ["<button></button>", '<input type="checkbox">']) {
      expect(press({ key: "n" }, element(html))).toBe("n");
      expect(press({ key: "Enter" }, element(html))).toBeNull();
    }
  });

  test("Enter is not a button's that has only been clicked", () => {
    const button = element("<button></button>");
    expect(press({ key: "Enter" }, button, button)).toBe("enter");
  });

  test("an open dialog keeps its keys", () => {
    const dialog = element("<dialog open><button></button></dialog>");
    expect(press({ key: "n" }, dialog.querySelector("button") as Element)).toBeNull();
    // In some browsers a click on its text takes the focus from it.
    expect(press({ key: "n" })).toBeNull();
    dialog.removeAttribute("open");
    expect(press({ key: "n" })).toBe("n");
  });

  test("what another part has taken is not taken twice", () => {
    const box = element("<div></div>");
    box.addEventListener("keydown", (event) => event.preventDefault());
    expect(press({ key: "Enter" }, box)).toBeNull();
  });
});

test("labels", () => {
  expect([keyLabel("y"), keyLabel("1"), keyLabel("enter")]).toEqual(["Y", "1", "Enter"]);
});
