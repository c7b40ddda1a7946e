import { expect, test } from "vitest";
import { Cases } from "../photo/random.fixture";
import { toStage } from "../photo/view";
import { loupePlace, loupeSize, loupeView } from "./loupe";

const cases = new Cases();

test("lies on the stage and never over the pointer", () => {
  for (let count = 0; count < 2000; count++) {
    const stage = { width: cases.real(200, 2000), height: cases.real(128, 1200) };
    const at = { x: cases.real(0, stage.width), y: cases.real(0, stage.height) };
    const size = loupeSize(stage);
    const place = loupePlace(at, stage, size, cases.integer(0, 1) === 1);
    expect(place.x >= 0 && place.x + size <= stage.width + 1e-9).toBe(true);
    expect(place.y >= 0 && place.y + size <= stage.height + 1e-9).toBe(true);
    const middle = { x: place.x + size / 2, y: place.y + size / 2 };
    expect(Math.hypot(at.x - middle.x, at.y - middle.y)).toBeGreaterThan(size / 2);
  }
});

test("is above the pointer where there is room", () => {
  expect(loupePlace({ x: 400, y: 300 }, { width: 800, height: 600 }, 120, true)).toEqual({
    x: 340,
    y: 140,
  });
});

test("shows the point in its middle, four times as large", () => {
  const view = loupeView({ scale: 1.5, x: -20, y: 7 }, { x: 100, y: 50 }, 120);
  expect(view.scale).toBe(6);
  expect(toStage(view, { x: 100, y: 50 })).toEqual({ x: 60, y: 60 });
  expect(loupeView({ scale: 20, x: 0, y: 0 }, { x: 1, y: 1 }, 120).scale).toBe(32);
});
