import { describe, expect, test } from "vitest";
import { pixelAt } from "../editor/geometry";
import { Cases } from "./random.fixture";
import type { Size, View } from "./view";
import {
  isWhole,
  MAX_SCALE,
  onStage,
  pan,
  pinch,
  resized,
  reveal,
  toImage,
  toStage,
  whole,
  zoom,
} from "./view";

const cases = new Cases();

function anyView(): { stage: Size; photo: Size; view: View } {
  const stage = { width: cases.real(100, 3000), height: cases.real(100, 2000) };
  const photo = cases.size(1, 8000);
  let view = whole(stage, photo);
  for (let step = cases.integer(0, 4); step > 0; step--) {
    const at = { x: cases.real(0, stage.width), y: cases.real(0, stage.height) };
    view = zoom(view, stage, photo, cases.real(0.3, 8), at);
    view = pan(view, stage, photo, { x: cases.real(-900, 900), y: cases.real(-900, 900) });
  }
  return { stage, photo, view };
}

function expectInSight(view: View, stage: Size, photo: Size): void {
  expect(view.scale).toBeLessThanOrEqual(MAX_SCALE);
  expect(view.scale).toBeGreaterThanOrEqual(whole(stage, photo).scale);
  for (const [start, length, room] of [
    [view.x, photo.width * view.scale, stage.width],
    [view.y, photo.height * view.scale, stage.height],
  ] as const) {
    if (length <= room - 20) {
      expect(start + length / 2).toBeCloseTo(room / 2, 6);
    } else {
      expect(start).toBeLessThanOrEqual(10 + 1e-6);
      expect(start + length).toBeGreaterThanOrEqual(room - 10 - 1e-6);
    }
  }
}

describe("a view", () => {
  test("of the whole photo is as large as fits, and centred", () => {
    expect(whole({ width: 1020, height: 770 }, { width: 500, height: 375 })).toEqual({
      scale: 2,
      x: 10,
      y: 10,
    });
    const wide = whole({ width: 1020, height: 770 }, { width: 500, height: 100 });
    expect(wide).toEqual({ scale: 2, x: 10, y: 285 });
    expect(whole({ width: 1020, height: 770 }, { width: 8000, height: 6000 }).scale).toBe(0.125);
  });

  test("enlarges a tiny photo, but no pixel beyond the limit", () => {
    expect(whole({ width: 620, height: 620 }, { width: 50, height: 50 }).scale).toBe(12);
    expect(whole({ width: 620, height: 620 }, { width: 2, height: 2 }).scale).toBe(MAX_SCALE);
  });

  test("leads from every pixel to the stage and back, at any zoom and size", () => {
    for (let count = 0; count < 2000; count++) {
      const { photo, view } = anyView();
      const pixel = [cases.integer(1, photo.width), cases.integer(1, photo.height)] as const;
      const at = toStage(view, { x: pixel[0] - 0.5, y: pixel[1] - 0.5 });
      expect(pixelAt(toImage(view, at), photo)).toEqual(pixel);
      // Anywhere in the pixel, up to what a screen of four times the density can tell apart.
      const off = Math.max(0, view.scale / 2 - 0.01);
      const corner = { x: at.x + cases.real(-off, off), y: at.y + cases.real(-off, off) };
      expect(pixelAt(toImage(view, corner), photo)).toEqual(pixel);
    }
  });

  test("never loses the photo, whatever is done", () => {
    for (let count = 0; count < 1000; count++) {
      const { stage, photo, view } = anyView();
      expectInSight(view, stage, photo);
      const other = { width: cases.real(100, 3000), height: cases.real(100, 2000) };
      expectInSight(resized(view, stage, other, photo), other, photo);
      const any = () => ({ x: cases.real(-50, 3000), y: cases.real(-50, 2000) });
      expectInSight(pinch(view, stage, photo, [any(), any()], [any(), any()]), stage, photo);
    }
  });

  test("stays whole when the stage changes, and otherwise keeps its middle", () => {
    const photo = { width: 500, height: 375 };
    const before = { width: 1020, height: 770 };
    const after = { width: 520, height: 400 };
    expect(resized(whole(before, photo), before, after, photo)).toEqual(whole(after, photo));
    const near = zoom(whole(before, photo), before, photo, 6, { x: 510, y: 385 });
    const next = resized(near, before, after, photo);
    expect(next.scale).toBe(near.scale);
    expect(toImage(next, { x: 260, y: 200 })).toEqual(toImage(near, { x: 510, y: 385 }));
  });

  test("keeps the point under the pointer where it is", () => {
    const stage = { width: 1020, height: 770 };
    const photo = { width: 500, height: 375 };
    const at = { x: 400, y: 300 };
    const view = zoom(whole(stage, photo), stage, photo, 3, at);
    expect(view.scale).toBe(6);
    expect(toImage(view, at).x).toBeCloseTo(195, 9);
    expect(toImage(view, at).y).toBeCloseTo(145, 9);
    expect(isWhole(view, stage, photo)).toBe(false);
    expect(isWhole(zoom(view, stage, photo, 0.01, at), stage, photo)).toBe(true);
  });

  test("follows two fingers", () => {
    const stage = { width: 1020, height: 770 };
    const photo = { width: 500, height: 375 };
    const start = zoom(whole(stage, photo), stage, photo, 2, { x: 510, y: 385 });
    const from = [
      { x: 400, y: 300 },
      { x: 500, y: 300 },
    ] as const;
    const to = [
      { x: 380, y: 320 },
      { x: 580, y: 320 },
    ] as const;
    const view = pinch(start, stage, photo, from, to);
    expect(view.scale).toBeCloseTo(8, 9);
    const held = toImage(start, { x: 450, y: 300 });
    expect(toStage(view, held).x).toBeCloseTo(480, 9);
    expect(toStage(view, held).y).toBeCloseTo(320, 9);
  });

  test("brings a point into sight, and does not stir for one that is", () => {
    for (let count = 0; count < 1000; count++) {
      const { stage, photo, view } = anyView();
      const point = { x: cases.real(0, photo.width), y: cases.real(0, photo.height) };
      const at = toStage(reveal(view, stage, photo, point), point);
      expect(at.x).toBeGreaterThanOrEqual(0);
      expect(at.x).toBeLessThanOrEqual(stage.width);
      expect(at.y).toBeGreaterThanOrEqual(0);
      expect(at.y).toBeLessThanOrEqual(stage.height);
    }
    const still = whole({ width: 1020, height: 770 }, { width: 500, height: 375 });
    expect(
      reveal(still, { width: 1020, height: 770 }, { width: 500, height: 375 }, { x: 250, y: 200 }),
    ).toBe(still);
  });

  test("puts a box around all of its pixels", () => {
    const view = { scale: 2, x: 10, y: 20 };
    expect(onStage([1, 1, 1, 1], view)).toEqual({ x: 10, y: 20, width: 2, height: 2 });
    expect(onStage([3, 4, 12, 8], view)).toEqual({ x: 14, y: 26, width: 20, height: 10 });
  });
});
