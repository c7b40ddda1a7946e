// The position of a photo on its stage, and the image point under a pointer. Pure geometry.

import type { Rect } from "../protocol";

/** A place on the stage in CSS pixels, or on the photo in image pixels (0 is its left or top). */
export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** `scale` is CSS pixels per image pixel; `x` and `y` are the photo's top left on the stage. */
export interface View extends Point {
  readonly scale: number;
}

export const MAX_SCALE = 32;
/** Room around the photo, so that its outermost pixels can be reached and handles are visible. */
const MARGIN = 10;

/** The largest view that shows the whole photo. */
export function whole(stage: Size, photo: Size): View {
  return clamp({ scale: wholeScale(stage, photo), x: 0, y: 0 }, stage, photo);
}

export function isWhole(view: View, stage: Size, photo: Size): boolean {
  return view.scale <= wholeScale(stage, photo) * (1 + 1e-9);
}

/** The scale times `factor`, with the image point under `at` staying there if it can. */
export function zoom(view: View, stage: Size, photo: Size, factor: number, at: Point): View {
  const scale = allowed(view.scale * factor, stage, photo);
  return clamp(anchored(scale, toImage(view, at), at), stage, photo);
}

export function pan(view: View, stage: Size, photo: Size, by: Point): View {
  return clamp({ ...view, x: view.x + by.x, y: view.y + by.y }, stage, photo);
}

/** Two fingers moved from `from` to `to`: the part of the photo between them stays there. */
export function pinch(
  view: View,
  stage: Size,
  photo: Size,
  from: readonly [Point, Point],
  to: readonly [Point, Point],
): View {
  const factor = distance(...to) / Math.max(distance(...from), 1);
  const scale = allowed(view.scale * factor, stage, photo);
  return clamp(anchored(scale, toImage(view, middle(...from)), middle(...to)), stage, photo);
}

/** The view after the stage changed its size: the same image point in the middle, whole stays whole. */
export function resized(view: View, before: Size, stage: Size, photo: Size): View {
  if (isWhole(view, before, photo)) return whole(stage, photo);
  const centre = toImage(view, { x: before.width / 2, y: before.height / 2 });
  const scale = allowed(view.scale, stage, photo);
  const at = { x: stage.width / 2, y: stage.height / 2 };
  return clamp(anchored(scale, centre, at), stage, photo);
}

/** Pan as little as possible until an image point is at least `room` inside the stage. */
export function reveal(view: View, stage: Size, photo: Size, point: Point, room = 24): View {
  const at = toStage(view, point);
  const by = {
    x: shortfall(at.x, stage.width, Math.min(room, stage.width / 2)),
    y: shortfall(at.y, stage.height, Math.min(room, stage.height / 2)),
  };
  return by.x || by.y ? pan(view, stage, photo, by) : view;
}

export function toImage(view: View, at: Point): Point {
  return { x: (at.x - view.x) / view.scale, y: (at.y - view.y) / view.scale };
}

export function toStage(view: View, point: Point): Point {
  return { x: view.x + point.x * view.scale, y: view.y + point.y * view.scale };
}

/** Where a box lies on the stage: from the outer edge of its first pixel to that of its last. */
export function onStage([xmin, ymin, xmax, ymax]: Rect, view: View): Point & Size {
  return {
    ...toStage(view, { x: xmin - 1, y: ymin - 1 }),
    width: (xmax - xmin + 1) * view.scale,
    height: (ymax - ymin + 1) * view.scale,
  };
}

/** Keep the photo in sight: centred if there is room, otherwise filling the stage. */
function clamp(view: View, stage: Size, photo: Size): View {
  return {
    scale: view.scale,
    x: clampAxis(view.x, stage.width, photo.width * view.scale),
    y: clampAxis(view.y, stage.height, photo.height * view.scale),
  };
}

function clampAxis(start: number, room: number, length: number): number {
  const margin = marginOf(room);
  if (length <= room - 2 * margin) return (room - length) / 2;
  return Math.min(margin, Math.max(room - margin - length, start));
}

function marginOf(room: number): number {
  return Math.min(MARGIN, room / 20);
}

function wholeScale(stage: Size, photo: Size): number {
  const wide = (stage.width - 2 * marginOf(stage.width)) / photo.width;
  const high = (stage.height - 2 * marginOf(stage.height)) / photo.height;
  return Math.min(MAX_SCALE, wide, high);
}

function allowed(scale: number, stage: Size, photo: Size): number {
  return Math.max(wholeScale(stage, photo), Math.min(MAX_SCALE, scale));
}

function anchored(scale: number, point: Point, at: Point): View {
  return { scale, x: at.x - point.x * scale, y: at.y - point.y * scale };
}

function shortfall(at: number, length: number, room: number): number {
  if (at < room) return room - at;
  return at > length - room ? length - room - at : 0;
}

function distance(a: Point, b: Point): number {
  return Math.hypot(a.x - b.x, a.y - b.y);
}

function middle(a: Point, b: Point): Point {
  return { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 };
}
