// A layout for tests: happy-dom has none. The stage is 1020 × 770, so that a photo of 500 × 375 lies
// on it from 10, 10 with two CSS pixels per image pixel.
import { render } from "preact";
import { afterEach, beforeEach, vi } from "vitest";

export const PHOTO = { url: "/photo.jpg", width: 500, height: 375 };

/** How many client pixels one of the stage's own is: not 1 where the page is zoomed. */
export const page = { zoom: 1, left: 0, top: 0 };

class FixedSize implements ResizeObserver {
  constructor(private readonly callback: ResizeObserverCallback) {}
  observe(): void {
    const entry = { contentRect: { width: 1020, height: 770 } } as ResizeObserverEntry;
    this.callback([entry], this);
  }
  unobserve(): void {}
  disconnect(): void {}
}

export function layOut(): void {
  beforeEach(() => {
    Object.assign(page, { zoom: 1, left: 0, top: 0 });
    vi.stubGlobal("ResizeObserver", FixedSize);
    vi.spyOn(HTMLElement.prototype, "getBoundingClientRect").mockImplementation(
      () => new DOMRect(page.left, page.top, 1020 * page.zoom, 770 * page.zoom),
    );
  });
  afterEach(() => {
    render(null, document.body);
    vi.unstubAllGlobals();
    vi.restoreAllMocks();
  });
}

export const settled = () => new Promise((resolve) => setTimeout(resolve, 0));

/** The middle of an image pixel as an event's client coordinates, while the whole photo is shown. */
export function over([x, y]: readonly [number, number]) {
  const at = { x: 10 + (x - 0.5) * 2, y: 10 + (y - 0.5) * 2 };
  return { clientX: page.left + at.x * page.zoom, clientY: page.top + at.y * page.zoom };
}

export function find(selector: string): HTMLElement {
  const element = document.querySelector<HTMLElement>(selector);
  if (!element) throw new Error(`there is no ${selector}`);
  return element;
}

export async function loaded(): Promise<void> {
  await settled();
  find(".photo-picture").dispatchEvent(new Event("load"));
  await settled();
}

export async function point(type: string, init: PointerEventInit): Promise<void> {
  const options = { bubbles: true, cancelable: true, pointerId: 1, pointerType: "mouse", ...init };
  find(".photo-stage").dispatchEvent(new PointerEvent(type, options));
  await settled();
}

export async function drag(
  from: readonly [number, number],
  to: readonly [number, number],
  init: PointerEventInit = {},
): Promise<void> {
  await point("pointerdown", { ...init, ...over(from) });
  await point("pointermove", { ...init, ...over(to) });
  await point("pointerup", { ...init, ...over(to) });
}

/** Press and release a key; say whether the page would have seen it. */
export async function press(key: string, init: KeyboardEventInit = {}, on = ".photo-stage") {
  let seen = false;
  const watch = () => {
    seen = true;
  };
  window.addEventListener("keydown", watch);
  const options = { key, bubbles: true, cancelable: true, ...init };
  find(on).dispatchEvent(new KeyboardEvent("keydown", options));
  find(on).dispatchEvent(new KeyboardEvent("keyup", options));
  window.removeEventListener("keydown", watch);
  await settled();
  return seen;
}

export function rects(kind: string): string[] {
  const boxes = document.querySelectorAll(`.photo-stage > .photo-overlay > .photo-box.${kind}`);
  return [...boxes].map((box) => box.getAttribute("data-rect") ?? "");
}
