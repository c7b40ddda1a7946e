import { describe, expect, test } from "vitest";
import { Cases } from "../photo/random.fixture";
import type { Size } from "../photo/view";
import { onStage, toImage, toStage, whole, zoom } from "../photo/view";
import type { Rect } from "../protocol";
import type { Grip, Part } from "./geometry";
import { adjusted, around, gripAt, heldPoint, isSame, nudged, pixelAt } from "./geometry";

const cases = new Cases();
const PHOTO = { width: 500, height: 375 };
const GRIPS = [-1, 0, 1].flatMap((x) => [-1, 0, 1].map((y) => ({ x, y }) as Grip));

function expectValid(rect: Rect, photo: Size): void {
  const [xmin, ymin, xmax, ymax] = rect;
  const across = 1 <= xmin && xmin <= xmax && xmax <= photo.width;
  const down = 1 <= ymin && ymin <= ymax && ymax <= photo.height;
  // One quick look each: there are many thousands.
  if (!(across && down && rect.every(Number.isInteger))) {
    expect.fail(`${rect} is no box in a photo of ${photo.width} × ${photo.height}`);
  }
}

describe("a pixel", () => {
  test("holds all points up to the next one", () => {
    expect(pixelAt({ x: 0, y: 0 }, PHOTO)).toEqual([1, 1]);
    expect(pixelAt({ x: 0.999, y: 1 }, PHOTO)).toEqual([1, 2]);
    expect(pixelAt({ x: 499.5, y: 374.999 }, PHOTO)).toEqual([500, 375]);
  });

  test("is the nearest one for points outside", () => {
    expect(pixelAt({ x: -20, y: 375 }, PHOTO)).toEqual([1, 375]);
    expect(pixelAt({ x: 500, y: -0.1 }, PHOTO)).toEqual([500, 1]);
  });
});

describe("a drawn box", () => {
  test("has both corners' pixels in it, in whichever direction it was dragged", () => {
    for (const corners of [
      [
        [10, 20],
        [40, 30],
      ],
      [
        [40, 30],
        [10, 20],
      ],
      [
        [10, 30],
        [40, 20],
      ],
      [
        [40, 20],
        [10, 30],
      ],
    ] as const) {
      expect(around(corners)).toEqual([10, 20, 40, 30]);
    }
    expect(
      around([
        [7, 7],
        [7, 7],
      ]),
    ).toEqual([7, 7, 7, 7]);
  });

  test("reaches to the four extreme points, in any order", () => {
    const points = [
      [250, 50],
      [120, 180],
      [260, 320],
      [400, 170],
    ] as const;
    expect(around(points)).toEqual([120, 50, 400, 320]);
    expect(around([...points].reverse())).toEqual([120, 50, 400, 320]);
  });

  test("is the same at any zoom and display size", () => {
    for (let count = 0; count < 1000; count++) {
      const photo = cases.size(1, 8000);
      const stage = { width: cases.real(150, 2500), height: cases.real(150, 1500) };
      const middle = { x: stage.width / 2, y: stage.height / 2 };
      const view = zoom(whole(stage, photo), stage, photo, cases.real(1, 40), middle);
      const rect = cases.rect(photo);
      const corners = [
        { x: rect[0] - 0.5, y: rect[1] - 0.5 },
        { x: rect[2] - 0.5, y: rect[3] - 0.5 },
      ].map((corner) => pixelAt(toImage(view, toStage(view, corner)), photo));
      expect(around(corners)).toEqual(rect);
    }
  });

  test("is valid wherever the pointer was", () => {
    for (let count = 0; count < 2000; count++) {
      const photo = cases.size(1, 300);
      const any = () => pixelAt({ x: cases.real(-100, 400), y: cases.real(-100, 400) }, photo);
      expectValid(around([any(), any(), any(), any()]), photo);
    }
  });
});

describe("a grip", () => {
  const view = { scale: 2, x: 10, y: 20 };
  const rect: Rect = [51, 41, 150, 90]; // from 110, 100 to 310, 200 on the stage

  test("is a corner, an edge, the inside or nothing", () => {
    expect(gripAt(rect, view, { x: 112, y: 98 }, 9)).toEqual({ x: -1, y: -1 });
    expect(gripAt(rect, view, { x: 305, y: 205 }, 9)).toEqual({ x: 1, y: 1 });
    expect(gripAt(rect, view, { x: 102, y: 140 }, 9)).toEqual({ x: -1, y: 0 });
    expect(gripAt(rect, view, { x: 200, y: 208 }, 9)).toEqual({ x: 0, y: 1 });
    expect(gripAt(rect, view, { x: 200, y: 150 }, 9)).toEqual({ x: 0, y: 0 });
    expect(gripAt(rect, view, { x: 100, y: 150 }, 9)).toBeNull();
    expect(gripAt(rect, view, { x: 200, y: 210 }, 9)).toBeNull();
  });

  test("is found from farther away with a finger", () => {
    expect(gripAt(rect, view, { x: 90, y: 150 }, 9)).toBeNull();
    expect(gripAt(rect, view, { x: 90, y: 150 }, 22)).toEqual({ x: -1, y: 0 });
  });

  test("leaves the middle of even the smallest box to move it", () => {
    for (let count = 0; count < 1000; count++) {
      const small = cases.rect({ width: 500, height: 375 });
      const box = onStage(small, view);
      const middle = { x: box.x + box.width / 2, y: box.y + box.height / 2 };
      expect(gripAt(small, view, middle, 22)).toEqual({ x: 0, y: 0 });
      expect(gripAt(small, view, { x: box.x, y: box.y }, 9)).toEqual({ x: -1, y: -1 });
      expect(gripAt(small, view, { x: box.x + box.width, y: middle.y }, 9)).toEqual({ x: 1, y: 0 });
    }
  });
});

describe("an adjusted box", () => {
  const rect: Rect = [100, 80, 300, 250];

  test("moves only the edges that are held", () => {
    expect(adjusted(rect, { x: 1, y: 0 }, { x: 5.4, y: 99 }, PHOTO)).toEqual([100, 80, 305, 250]);
    expect(adjusted(rect, { x: -1, y: -1 }, { x: -3, y: 2.6 }, PHOTO)).toEqual([97, 83, 300, 250]);
    expect(adjusted(rect, { x: 0, y: 1 }, { x: 50, y: -10 }, PHOTO)).toEqual([100, 80, 300, 240]);
  });

  test("turns over where an edge crosses the opposite one", () => {
    // The left edge lies at 99, the right one at 300.
    expect(adjusted(rect, { x: -1, y: 0 }, { x: 211, y: 0 }, PHOTO)).toEqual([301, 80, 310, 250]);
    expect(adjusted(rect, { x: 1, y: 0 }, { x: -211, y: 0 }, PHOTO)).toEqual([90, 80, 99, 250]);
  });

  test("keeps at least one pixel where two edges meet", () => {
    expect(adjusted(rect, { x: -1, y: 0 }, { x: 201, y: 0 }, PHOTO)).toEqual([300, 80, 300, 250]);
    expect(adjusted(rect, { x: 1, y: 0 }, { x: -201, y: 0 }, PHOTO)).toEqual([100, 80, 100, 250]);
  });

  test("moves as a whole, and stops at the photo's edge with its size", () => {
    const inside = { x: 0, y: 0 } as const;
    expect(adjusted(rect, inside, { x: 10, y: -5 }, PHOTO)).toEqual([110, 75, 310, 245]);
    expect(adjusted(rect, inside, { x: 1000, y: -1000 }, PHOTO)).toEqual([300, 1, 500, 171]);
  });

  test("is always valid, and goes back to where it was", () => {
    for (let count = 0; count < 1000; count++) {
      const photo = cases.size(1, 2000);
      const before = cases.rect(photo);
      for (const grip of GRIPS) {
        const by = { x: cases.real(-2500, 2500), y: cases.real(-2500, 2500) };
        expectValid(adjusted(before, grip, by, photo), photo);
        expect(isSame(adjusted(before, grip, { x: 0, y: 0 }, photo), before)).toBe(true);
      }
    }
  });
});

describe("a nudged box", () => {
  test("moves by pixels as a whole or by a corner", () => {
    expect(nudged([10, 10, 20, 20], "whole", [1, 0], PHOTO)).toEqual([11, 10, 21, 20]);
    expect(nudged([10, 10, 20, 20], "start", [-1, 10], PHOTO)).toEqual([9, 20, 20, 20]);
    expect(nudged([10, 10, 20, 20], "end", [0, -1], PHOTO)).toEqual([10, 10, 20, 19]);
  });

  test("does not cross its other corner or leave the photo", () => {
    for (let count = 0; count < 1000; count++) {
      const photo = cases.size(1, 60);
      const before = cases.rect(photo);
      for (const part of ["whole", "start", "end"] as Part[]) {
        const after = nudged(before, part, [cases.integer(-10, 10), cases.integer(-10, 10)], photo);
        expectValid(after, photo);
        if (part === "start") expect(after.slice(2)).toEqual(before.slice(2));
        if (part === "end") expect(after.slice(0, 2)).toEqual(before.slice(0, 2));
        if (part === "whole") expect(after[2] - after[0]).toBe(before[2] - before[0]);
      }
    }
  });
});

test("the held point is on the held edge, beside the pointer", () => {
  const pointer = { x: 303.2, y: 120 };
  const by = { x: 5.2, y: 0 };
  expect(heldPoint([100, 80, 300, 250], { x: 1, y: 0 }, by, pointer, PHOTO)).toEqual({
    x: 305,
    y: 120,
  });
  const far = { x: -900, y: 0 };
  expect(heldPoint([100, 80, 300, 250], { x: -1, y: 0 }, far, pointer, PHOTO)).toEqual({
    x: 0,
    y: 120,
  });
});

test("boxes are the same by their edges", () => {
  expect(isSame([1, 2, 3, 4], [1, 2, 3, 4])).toBe(true);
  expect(isSame([1, 2, 3, 4], [1, 2, 3, 5])).toBe(false);
  expect(isSame(null, [1, 2, 3, 4])).toBe(false);
  expect(isSame(null, null)).toBe(true);
});
