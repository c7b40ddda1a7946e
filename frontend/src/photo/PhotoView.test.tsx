import { render } from "preact";
import { afterEach, describe, expect, test, vi } from "vitest";
import type { PhotoViewProps } from "./PhotoView";
import { PhotoView } from "./PhotoView";
import {
  drag,
  find,
  layOut,
  loaded,
  PHOTO,
  page,
  point,
  press,
  rects,
  settled,
} from "./stage.fixture";

layOut();
afterEach(() => vi.useRealTimers());

function show(props: Partial<PhotoViewProps> = {}): void {
  render(<PhotoView photo={PHOTO} boxes={[]} label="A photo" {...props} />, document.body);
}

const picture = () => find(".photo-picture").style;

describe("the photo", () => {
  test("lies as large as fits in the middle of the stage, with its boxes over it", async () => {
    show({
      boxes: [
        [1, 1, 500, 375],
        [60, 70, 200, 260],
      ],
      candidate: [5, 6, 7, 8],
      expected: [[9, 9, 10, 10]],
    });
    await loaded();
    expect(picture().width).toBe("1000px");
    expect(picture().height).toBe("750px");
    expect(picture().transform).toBe("translate(10px, 10px)");
    expect(rects("accepted")).toEqual(["1 1 500 375", "60 70 200 260"]);
    expect(rects("candidate")).toEqual(["5 6 7 8"]);
    expect(rects("expected")).toEqual(["9 9 10 10"]);
    const line = find(".photo-box .photo-line");
    expect(["x", "y", "width", "height"].map((name) => line.getAttribute(name))).toEqual([
      "10",
      "10",
      "1000",
      "750",
    ]);
  });

  test("has a placeholder of its shape and no boxes until it is there", async () => {
    const states: string[] = [];
    show({ boxes: [[1, 2, 3, 4]], onState: (state) => states.push(state) });
    await settled();
    expect(find(".photo-skeleton").style.width).toBe("1000px");
    expect(rects("accepted")).toEqual([]);
    await loaded();
    expect(document.querySelector(".photo-skeleton")).toBeNull();
    await vi.waitFor(() => expect(states).toEqual(["loading", "shown"]));
  });

  test("is missing at once where it has no address", async () => {
    const states: string[] = [];
    show({ photo: { ...PHOTO, url: "" }, onState: (state) => states.push(state) });
    await vi.waitFor(() => expect(states).toEqual(["missing"]));
    expect(find(".photo-missing").textContent).toContain("missing");
    expect(document.querySelector("button, img")).toBeNull();
  });

  test("is asked for three times, then only on request", async () => {
    const states: string[] = [];
    show({ onState: (state) => states.push(state) });
    await settled();
    vi.useFakeTimers();
    const attempts = new Set<Element>();
    for (const wait of [500, 2000, 60_000]) {
      const image = find(".photo-picture");
      attempts.add(image);
      image.dispatchEvent(new Event("error"));
      await vi.advanceTimersByTimeAsync(wait - 100);
      expect(document.querySelector(".photo-picture")).toBe(attempts.size < 3 ? image : null);
      await vi.advanceTimersByTimeAsync(200);
    }
    expect(attempts.size).toBe(3);
    expect(states).toEqual(["loading", "missing"]);
    find(".photo-missing button").click();
    await vi.advanceTimersByTimeAsync(100);
    find(".photo-picture").dispatchEvent(new Event("load"));
    await vi.advanceTimersByTimeAsync(100);
    expect(states).toEqual(["loading", "missing", "loading", "shown"]);
  });

  test("starts over with another address", async () => {
    const states: string[] = [];
    const onState = (state: string) => states.push(state);
    show({ onState });
    await loaded();
    await press("+");
    show({ onState, photo: { url: "/other.jpg", width: 1000, height: 750 } });
    await settled();
    expect(picture().transform).toBe("translate(10px, 10px)");
    await loaded();
    await vi.waitFor(() => expect(states).toEqual(["loading", "shown", "loading", "shown"]));
  });

  test("shows its pixels where they are large", async () => {
    show({ photo: { ...PHOTO, width: 50, height: 50 } });
    await loaded();
    expect(find(".photo-picture").classList.contains("pixels")).toBe(true);
    expect(picture().width).toBe("750px");
  });
});

describe("zooming", () => {
  test("with keys, which the page then does not see", async () => {
    show();
    await loaded();
    expect(await press("+")).toBe(false);
    expect(picture().width).toBe("1500px");
    expect(await press("-")).toBe(false);
    expect(picture().width).toBe("1000px");
    await press("=");
    await press("ArrowRight");
    const moved = picture().transform;
    await press("ArrowLeft");
    expect(picture().transform).not.toBe(moved);
    await press("0");
    expect(picture().transform).toBe("translate(10px, 10px)");
  });

  test("leaves the browser's own zoom, arrows and all other keys alone", async () => {
    show();
    await loaded();
    expect(await press("+", { ctrlKey: true })).toBe(true);
    expect(await press("ArrowRight")).toBe(true);
    expect(await press("n")).toBe(true);
    expect(picture().width).toBe("1000px");
  });

  test("with buttons", async () => {
    show();
    await loaded();
    find('[aria-label="Zoom in"]').click();
    await settled();
    expect(picture().width).toBe("1500px");
    expect(find('[aria-label="Zoom out"]').getAttribute("aria-disabled")).toBe("false");
    find('[aria-label="Show the whole photo"]').click();
    await settled();
    expect(picture().width).toBe("1000px");
    expect(find('[aria-label="Zoom out"]').getAttribute("aria-disabled")).toBe("true");
  });

  async function wheel(deltaY: number): Promise<boolean> {
    const options = { deltaY, clientX: 510, clientY: 385, bubbles: true, cancelable: true };
    const event = new WheelEvent("wheel", options);
    find(".photo-stage").dispatchEvent(event);
    await settled();
    return event.defaultPrevented;
  }

  test("with the wheel, which scrolls the page where there is no more to zoom", async () => {
    show();
    await loaded();
    await vi.waitFor(async () => expect(await wheel(-150)).toBe(true));
    expect(Number.parseFloat(picture().width)).toBeCloseTo(1000 * Math.exp(0.5), 3);
    for (const _ of [1, 2, 3]) await wheel(200);
    expect(picture().width).toBe("1000px");
    await new Promise((resolve) => setTimeout(resolve, 450));
    expect(await wheel(200)).toBe(false);
  });

  test("with two fingers, and moving with them", async () => {
    show();
    await loaded();
    const finger = { pointerType: "touch" };
    await point("pointerdown", { ...finger, pointerId: 1, clientX: 460, clientY: 385 });
    await point("pointerdown", { ...finger, pointerId: 2, clientX: 560, clientY: 385 });
    await point("pointermove", { ...finger, pointerId: 1, clientX: 410, clientY: 385 });
    await point("pointermove", { ...finger, pointerId: 2, clientX: 610, clientY: 385 });
    expect(picture().width).toBe("2000px");
    expect(picture().transform).toBe("translate(-490px, -365px)");
    await point("pointerup", { ...finger, pointerId: 1, clientX: 410, clientY: 385 });
    await point("pointermove", { ...finger, pointerId: 2, clientX: 700, clientY: 385 });
    expect(picture().transform).toBe("translate(-490px, -365px)");
  });

  test("a drag moves the enlarged photo, by as much as the pointer went", async () => {
    Object.assign(page, { zoom: 2, left: 30, top: 40 });
    show();
    await loaded();
    await press("+");
    await press("+");
    const before = picture().transform;
    expect(before).toBe("translate(-615px, -458.75px)");
    await drag([200, 200], [210, 195]);
    expect(picture().transform).toBe("translate(-595px, -468.75px)");
  });
});
