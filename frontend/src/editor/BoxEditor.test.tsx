import { render } from "preact";
import { beforeEach, describe, expect, test, vi } from "vitest";
import {
  drag,
  find,
  layOut,
  loaded,
  over,
  PHOTO,
  page,
  point,
  press,
  rects,
  settled,
} from "../photo/stage.fixture";
import type { Rect, Way } from "../protocol";
import type { BoxEditorProps } from "./BoxEditor";
import { BoxEditor } from "./BoxEditor";

layOut();

let changes: [Rect | null, Way | ""][];
let props: BoxEditorProps;

function draw(): void {
  render(<BoxEditor {...props} />, document.body);
}

async function open(more: Partial<BoxEditorProps> = {}): Promise<void> {
  changes = [];
  props = {
    photo: PHOTO,
    boxes: [[60, 70, 200, 260]],
    label: "Draw a box",
    value: null,
    way: "drag",
    onChange: (value, way) => {
      changes.push([value, way]);
      props = { ...props, value };
      draw();
    },
    ...more,
  };
  draw();
  await loaded();
}

const last = () => changes.at(-1);
const click = async (pixel: readonly [number, number]) => {
  await point("pointerdown", over(pixel));
  await point("pointerup", over(pixel));
};
const button = (text: string) => {
  const all = [...document.querySelectorAll("button")];
  return all.find((one) => one.textContent?.includes(text)) as HTMLButtonElement;
};

beforeEach(() => {
  let now = 1_000_000;
  vi.spyOn(Date, "now").mockImplementation(() => {
    now += 2000;
    return now;
  });
});

describe("dragging", () => {
  test("draws a box, also across others, and tells of it once", async () => {
    await open();
    await drag([100, 80], [300, 250]);
    expect(changes).toEqual([[[100, 80, 300, 250], "drag"]]);
    expect(rects("candidate")).toEqual(["100 80 300 250"]);
    expect(rects("accepted")).toEqual(["60 70 200 260"]);
    expect(find(".editor-size").textContent).toBe("201 × 171 px");
  });

  test("in any direction, and beyond the photo's edge", async () => {
    await open();
    await drag([300, 250], [-40, -20]);
    expect(changes).toEqual([[[1, 1, 300, 250], "drag"]]);
  });

  test("gives the same box on a zoomed page", async () => {
    for (const zoom of [0.5, 0.9, 1.25, 2]) {
      render(null, document.body);
      await open();
      Object.assign(page, { zoom, left: 13.3, top: 7.1 });
      await drag([100, 80], [300, 250]);
      expect(last()).toEqual([[100, 80, 300, 250], "drag"]);
    }
  });

  test("a mere click, or a drag beside the photo, draws nothing", async () => {
    await open();
    await click([100, 80]);
    await drag([-3, 10], [-1, 300]);
    expect(changes).toEqual([]);
  });

  test("replaces the box when it begins outside of it", async () => {
    await open({ value: [100, 80, 300, 250] });
    await drag([320, 20], [400, 60]);
    expect(changes).toEqual([[[320, 20, 400, 60], "drag"]]);
  });

  test("adjusts edges and moves the box, and keeps the way it was drawn", async () => {
    await open({ value: [100, 80, 300, 250], valueWay: "extreme" });
    await drag([301, 150], [306, 170]);
    expect(last()).toEqual([[100, 80, 305, 250], "extreme"]);
    await drag([100, 80], [90, 85]);
    expect(last()).toEqual([[90, 85, 305, 250], "extreme"]);
    await drag([200, 150], [203, 149]);
    expect(last()).toEqual([[93, 84, 308, 249], "extreme"]);
    expect(changes.length).toBe(3);
  });

  test("takes hold of an edge from farther away with a finger", async () => {
    await open({ value: [100, 80, 300, 250] });
    await drag([308, 150], [318, 150], { pointerType: "touch" });
    expect(last()).toEqual([[100, 80, 310, 250], "drag"]);
    await drag([318, 150], [328, 170]);
    expect(last()).toEqual([[318, 150, 328, 170], "drag"]);
  });

  test("is given up when a second finger comes, or on Escape", async () => {
    await open();
    const finger = { pointerType: "touch" };
    await point("pointerdown", { ...finger, ...over([100, 80]) });
    await point("pointermove", { ...finger, ...over([200, 180]) });
    expect(rects("candidate")).toEqual(["100 80 200 180"]);
    await point("pointerdown", { ...finger, pointerId: 2, ...over([300, 180]) });
    expect(rects("candidate")).toEqual([]);
    await point("pointerup", { ...finger, pointerId: 2, ...over([300, 180]) });
    await point("pointerup", { ...finger, ...over([200, 180]) });
    await point("pointerdown", over([100, 80]));
    await point("pointermove", over([200, 180]));
    expect(await press("Escape")).toBe(false);
    await point("pointerup", over([200, 180]));
    expect(changes).toEqual([]);
  });

  test("shows the magnifier under a finger, and for a mouse at an edge", async () => {
    await open();
    await point("pointerdown", { pointerType: "touch", ...over([100, 80]) });
    expect(find(".loupe img").getAttribute("src")).toBe("/photo.jpg");
    await point("pointercancel", { pointerType: "touch", ...over([100, 80]) });
    expect(document.querySelector(".loupe")).toBeNull();
    await drag([100, 80], [300, 250]);
    await point("pointerdown", over([300, 150]));
    expect(document.querySelector(".loupe")).not.toBeNull();
  });

  test("with the space bar held moves the photo instead", async () => {
    await open();
    await press("+");
    const before = find(".photo-picture").style.transform;
    const space = { key: " ", bubbles: true, cancelable: true };
    find(".photo-stage").dispatchEvent(new KeyboardEvent("keydown", space));
    await drag([200, 200], [190, 190]);
    find(".photo-stage").dispatchEvent(new KeyboardEvent("keyup", space));
    await settled();
    expect(find(".photo-picture").style.transform).not.toBe(before);
    expect(changes).toEqual([]);
    expect(document.querySelector(".editor-cross")).toBeNull();
  });
});

describe("extreme clicking", () => {
  const POINTS = [
    [250, 50],
    [120, 180],
    [260, 320],
    [400, 170],
  ] as const;
  const hint = () => find(".editor-hints .now").textContent ?? "";

  test("makes a box of four points, asking for each", async () => {
    await open({ way: "extreme" });
    for (const [index, name] of ["topmost", "leftmost", "bottommost", "rightmost"].entries()) {
      expect(hint()).toContain(`Point ${index + 1} of 4`);
      expect(hint()).toContain(name);
      expect(changes).toEqual([]);
      await click(POINTS[index] as readonly [number, number]);
    }
    expect(changes).toEqual([[[120, 50, 400, 320], "extreme"]]);
    expect(document.querySelectorAll(".editor-handles rect").length).toBe(8);
    expect(document.querySelector(".editor-point")).toBeNull();
  });

  test("takes points back, and gives them again", async () => {
    await open({ way: "extreme" });
    for (const pixel of POINTS.slice(0, 3)) await click(pixel);
    expect(await press("Escape")).toBe(false);
    expect(document.querySelectorAll(".editor-point").length).toBe(2);
    await press("y", { ctrlKey: true });
    expect(document.querySelectorAll(".editor-point").length).toBe(3);
    await click(POINTS[3]);
    await press("z", { ctrlKey: true });
    expect(last()).toEqual([null, ""]);
    expect(document.querySelectorAll(".editor-point").length).toBe(3);
  });

  test("a click beside the photo means its edge only when it is near", async () => {
    await open({ way: "extreme" });
    await click([-30, 100]);
    expect(document.querySelector(".editor-point")).toBeNull();
    await click([-3, 100]);
    expect(document.querySelectorAll(".editor-point").length).toBe(1);
  });

  test("a double click is one point", async () => {
    await open({ way: "extreme" });
    vi.mocked(Date.now).mockReturnValue(5_000_000);
    await click([250, 50]);
    await click([250, 50]);
    expect(document.querySelectorAll(".editor-point").length).toBe(1);
    vi.mocked(Date.now).mockReturnValue(5_001_000);
    await click([250, 50]);
    expect(document.querySelectorAll(".editor-point").length).toBe(2);
  });

  test("keeps the former box until the new one is whole", async () => {
    await open({ way: "extreme", value: [10, 10, 40, 40] });
    for (const pixel of POINTS.slice(0, 3)) await click(pixel);
    expect(changes).toEqual([]);
    await press("Escape");
    await press("Escape");
    await press("Escape");
    expect(rects("candidate")).toEqual(["10 10 40 40"]);
    expect(await press("Escape")).toBe(true);
  });

  test("forgets its points when the way changes", async () => {
    await open({ way: "extreme" });
    await click(POINTS[0]);
    props = { ...props, way: "drag" };
    draw();
    await settled();
    expect(document.querySelector(".editor-point")).toBeNull();
  });
});

describe("the keyboard alone", () => {
  test("draws from corner to corner", async () => {
    await open();
    expect(await press("ArrowLeft")).toBe(false);
    expect(document.querySelector(".editor-cross")).not.toBeNull();
    expect(await press("Enter")).toBe(false);
    await press("ArrowRight", { shiftKey: true });
    await press("ArrowDown");
    expect(rects("candidate")).toEqual(["249 188 259 189"]);
    await press("Enter");
    expect(changes).toEqual([[[249, 188, 259, 189], "drag"]]);
    expect(await press("Enter")).toBe(true);
  });

  test("marks extreme points", async () => {
    await open({ way: "extreme" });
    await press("Enter");
    for (const key of ["ArrowUp", "ArrowLeft", "ArrowDown", "ArrowRight"]) {
      await press(key, { shiftKey: true });
      await press(" ");
    }
    expect(changes).toEqual([[[240, 178, 250, 188], "extreme"]]);
  });

  test("moves the box, then its corners", async () => {
    await open({ value: [100, 80, 300, 250] });
    await press("ArrowRight");
    expect(last()).toEqual([[101, 80, 301, 250], "drag"]);
    await press("ArrowUp", { shiftKey: true });
    expect(last()?.[0]).toEqual([101, 70, 301, 240]);
    await press(" ");
    await press("ArrowRight");
    expect(last()?.[0]).toEqual([102, 70, 301, 240]);
    await press(" ");
    await press("ArrowDown");
    expect(last()?.[0]).toEqual([102, 70, 301, 241]);
    await press(" ");
    await press("ArrowLeft");
    expect(last()?.[0]).toEqual([101, 70, 300, 241]);
  });

  test("says what became of it", async () => {
    await open({ value: [100, 80, 300, 250] });
    await press("ArrowRight");
    const said = "Box from 101, 80 to 301, 250, 201 × 171 pixels.";
    await vi.waitFor(() => expect(find(".editor-said").textContent).toBe(said));
  });

  test("leaves the keys of the page alone", async () => {
    await open({ value: [100, 80, 300, 250] });
    for (const key of ["n", "p", ",", ".", "1", "Enter", "Tab", "Escape"]) {
      expect(await press(key)).toBe(true);
    }
    expect(changes).toEqual([]);
  });
});

describe("undo, redo and clear", () => {
  test("by keys and by buttons", async () => {
    await open();
    await drag([100, 80], [300, 250]);
    await drag([320, 20], [400, 60]);
    await press("z", { ctrlKey: true });
    expect(last()).toEqual([[100, 80, 300, 250], "drag"]);
    await press("Z", { ctrlKey: true, shiftKey: true });
    expect(last()).toEqual([[320, 20, 400, 60], "drag"]);
    button("Undo").click();
    button("Undo").click();
    expect(last()).toEqual([null, ""]);
    await settled();
    expect(button("Undo").getAttribute("aria-disabled")).toBe("true");
    button("Redo").click();
    expect(last()).toEqual([[100, 80, 300, 250], "drag"]);
    await settled();
    button("Clear").click();
    expect(last()).toEqual([null, ""]);
    await settled();
    await press("z", { metaKey: true });
    expect(last()).toEqual([[100, 80, 300, 250], "drag"]);
    await press("Delete");
    expect(last()).toEqual([null, ""]);
    expect(await press("Backspace")).toBe(true);
  });

  test("arrow keys in quick succession are undone together", async () => {
    await open({ value: [100, 80, 300, 250] });
    vi.mocked(Date.now).mockReturnValue(5_000_000);
    await press("ArrowRight");
    await press("ArrowRight");
    await press("z", { ctrlKey: true });
    expect(last()).toEqual([[100, 80, 300, 250], "drag"]);
  });

  test("works wherever the focus is, but not while typing", async () => {
    await open();
    await drag([100, 80], [300, 250]);
    const field = document.createElement("textarea");
    document.body.append(field);
    await press("z", { ctrlKey: true }, "textarea");
    expect(changes.length).toBe(1);
    field.remove();
    await press("z", { ctrlKey: true }, "body");
    expect(last()).toEqual([null, ""]);
  });

  test("a box that the page takes away can be had back", async () => {
    await open({ value: [100, 80, 300, 250], valueWay: "extreme" });
    props = { ...props, value: null };
    draw();
    await settled();
    expect(rects("candidate")).toEqual([]);
    expect(changes).toEqual([]);
    await press("z", { ctrlKey: true });
    expect(changes).toEqual([[[100, 80, 300, 250], "extreme"]]);
  });

  test("another photo has nothing to undo", async () => {
    await open();
    await drag([100, 80], [300, 250]);
    props = { ...props, photo: { ...PHOTO, url: "/other.jpg" }, value: null };
    draw();
    await loaded();
    await press("z", { ctrlKey: true });
    expect(changes.length).toBe(1);
    expect(rects("candidate")).toEqual([]);
  });
});

describe("the other boxes", () => {
  test("are hidden while H is held", async () => {
    await open();
    await vi.waitFor(async () => {
      document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "h", bubbles: true }));
      await settled();
      expect(rects("accepted")).toEqual([]);
    });
    document.body.dispatchEvent(new KeyboardEvent("keyup", { key: "h", bubbles: true }));
    await settled();
    expect(rects("accepted")).toEqual(["60 70 200 260"]);
  });

  test("are hidden while the button is held", async () => {
    await open();
    button("Hold to hide").dispatchEvent(new PointerEvent("pointerdown", { bubbles: true }));
    await settled();
    expect(rects("accepted")).toEqual([]);
    button("Hold to hide").dispatchEvent(new PointerEvent("pointerup", { bubbles: true }));
    await settled();
    expect(rects("accepted").length).toBe(1);
  });
});

test("what is disabled cannot be changed", async () => {
  await open({ value: [100, 80, 300, 250], disabled: true });
  expect(rects("candidate")).toEqual(["100 80 300 250"]);
  expect(document.querySelector(".editor-handles")).toBeNull();
  await drag([320, 20], [400, 60]);
  expect(await press("Delete")).toBe(true);
  expect(await press("ArrowRight")).toBe(true);
  expect(changes).toEqual([]);
});

test("a photo stays as it is when its editor goes off", async () => {
  await open();
  await drag([100, 80], [300, 250]);
  await press("+");
  const [image, before] = [find(".photo-picture"), find(".photo-picture").style.transform];
  props = { ...props, disabled: true };
  draw();
  await settled();
  expect(find(".photo-picture")).toBe(image);
  expect(image.style.transform).toBe(before);
  expect(rects("candidate")).toEqual(["100 80 300 250"]);
  await press("z", { ctrlKey: true }, "body");
  expect(changes.length).toBe(1);
});

test("nothing can be drawn on a photo that is not there yet", async () => {
  await open();
  props = { ...props, photo: { ...PHOTO, url: "/slow.jpg" } };
  draw();
  await settled();
  await drag([100, 80], [300, 250]);
  await press("Enter");
  await press("Enter");
  expect(changes).toEqual([]);
});
