// Changes to a box. Pure geometry: every function returns a complete box inside the photo.

import type { Point, Size, View } from "../photo/view";
import { onStage } from "../photo/view";
import type { Rect } from "../protocol";

/** Column and row of an image pixel, counted from 1. */
export type Pixel = readonly [number, number];

/** The part of a box that a pointer holds: -1 left or top, 1 right or bottom; 0 and 0 all of it. */
export interface Grip {
  readonly x: -1 | 0 | 1;
  readonly y: -1 | 0 | 1;
}

/** What the arrow keys move: the whole box, its top left or its bottom right corner. */
export type Part = "whole" | "start" | "end";

export function between(value: number, low: number, high: number): number {
  return Math.min(high, Math.max(low, value));
}

/** The pixel that an image point lies in, or the nearest one. */
export function pixelAt(point: Point, photo: Size): Pixel {
  return [
    between(Math.floor(point.x) + 1, 1, photo.width),
    between(Math.floor(point.y) + 1, 1, photo.height),
  ];
}

/** The smallest box that contains all these pixels. */
export function around(pixels: readonly Pixel[]): Rect {
  const columns = pixels.map(([x]) => x);
  const rows = pixels.map(([, y]) => y);
  return [Math.min(...columns), Math.min(...rows), Math.max(...columns), Math.max(...rows)];
}

/** The part of a box that a pointer on the stage would grip. The whole edge acts as its handle; at
 * least the middle third of a small box is left for moving it. */
export function gripAt(rect: Rect, view: View, at: Point, reach: number): Grip | null {
  const box = onStage(rect, view);
  const x = sideAt(at.x - box.x, box.width, reach);
  const y = sideAt(at.y - box.y, box.height, reach);
  return x === null || y === null ? null : { x, y };
}

function sideAt(at: number, length: number, reach: number): -1 | 0 | 1 | null {
  if (at < -reach || at > length + reach) return null;
  const inside = Math.min(reach, length / 3);
  if (at <= inside) return -1;
  return at >= length - inside ? 1 : 0;
}

/** The box after the gripped part was moved by so many image pixels. Moving an edge across the
 * opposite one flips the box. */
export function adjusted(rect: Rect, grip: Grip, by: Point, photo: Size): Rect {
  const [xmin, ymin, xmax, ymax] = rect;
  const whole = grip.x === 0 && grip.y === 0;
  const move = whole ? shifted : dragged;
  const [left, right] = move(xmin, xmax, grip.x, Math.round(by.x), photo.width);
  const [top, bottom] = move(ymin, ymax, grip.y, Math.round(by.y), photo.height);
  return [left, top, right, bottom];
}

/** The box after the arrow keys moved it or one of its corners; corners do not cross. */
export function nudged(rect: Rect, part: Part, by: Pixel, photo: Size): Rect {
  const [xmin, ymin, xmax, ymax] = rect;
  if (part === "whole") return adjusted(rect, { x: 0, y: 0 }, { x: by[0], y: by[1] }, photo);
  if (part === "start") {
    return [between(xmin + by[0], 1, xmax), between(ymin + by[1], 1, ymax), xmax, ymax];
  }
  return [
    xmin,
    ymin,
    between(xmax + by[0], xmin, photo.width),
    between(ymax + by[1], ymin, photo.height),
  ];
}

/** The image point for the magnifier: on the gripped edges, otherwise under the pointer. */
export function heldPoint(rect: Rect, grip: Grip, by: Point, pointer: Point, photo: Size): Point {
  const [xmin, ymin, xmax, ymax] = rect;
  const x = grip.x === 0 ? pointer.x : (grip.x < 0 ? xmin - 1 : xmax) + Math.round(by.x);
  const y = grip.y === 0 ? pointer.y : (grip.y < 0 ? ymin - 1 : ymax) + Math.round(by.y);
  return { x: between(x, 0, photo.width), y: between(y, 0, photo.height) };
}

export function isSame(one: Rect | null, other: Rect | null): boolean {
  return one === other || (!!one && !!other && one.every((edge, index) => edge === other[index]));
}

type Span = readonly [number, number];

function shifted(min: number, max: number, _side: number, by: number, length: number): Span {
  const start = between(min + by, 1, length - (max - min));
  return [start, start + max - min];
}

function dragged(min: number, max: number, side: number, by: number, length: number): Span {
  if (side === 0) return [min, max];
  // Between pixels: the edges of pixel n are n - 1 and n.
  const fixed = side < 0 ? max : min - 1;
  const moved = between((side < 0 ? min - 1 : max) + by, 0, length);
  if (moved === fixed) return side < 0 ? [max, max] : [min, min];
  return [Math.min(fixed, moved) + 1, Math.max(fixed, moved)];
}
