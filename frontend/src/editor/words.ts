import type { Rect, Way } from "../protocol";
import type { Part, Pixel } from "./geometry";

const EXTREMES = ["topmost", "leftmost", "bottommost", "rightmost"] as const;
export const POINTS = EXTREMES.length;

const PARTS: Record<Part, string> = {
  whole: "the box",
  start: "its top left corner",
  end: "its bottom right corner",
};

/** What to do next, in general and with the keyboard. */
export interface Hint {
  readonly text: string;
  readonly keys: string;
}

export function hintFor(way: Way, points: number, rect: Rect | null, part: Part): Hint {
  if (way === "extreme" && (points > 0 || !rect)) {
    const text = `Point ${points + 1} of ${POINTS}: mark the ${EXTREMES[points]} point.`;
    return {
      text,
      keys: "Arrow keys move the cross, Enter marks a point, Esc removes the last one.",
    };
  }
  if (points > 0) {
    const keys = "Arrow keys move the cross, Enter sets the corner, Esc removes the first one.";
    return { text: "Set the opposite corner.", keys };
  }
  if (!rect) {
    const text = "Drag from one corner of the box to the opposite one.";
    return {
      text,
      keys: "Arrow keys move the cross, with Shift by ten pixels; Enter sets a corner.",
    };
  }
  const keys = `Arrow keys move ${PARTS[part]}, with Shift by ten pixels; Space selects ${PARTS[partAfter(part)]}.`;
  return { text: "Drag an edge or a corner to adjust the box.", keys };
}

/** Every hint this page may show, to reserve room for the longest. */
export function hintsFor(way: Way): readonly Hint[] {
  const counts = way === "drag" ? [0, 1] : EXTREMES.map((_, index) => index);
  const box: Rect = [1, 1, 1, 1];
  return [
    ...counts.map((count) => hintFor(way, count, null, "whole")),
    ...(["whole", "start", "end"] as const).map((part) => hintFor(way, 0, box, part)),
  ];
}

export function partAfter(part: Part): Part {
  return part === "whole" ? "start" : part === "start" ? "end" : "whole";
}

export function sizeOf([xmin, ymin, xmax, ymax]: Rect): string {
  return `${xmax - xmin + 1} × ${ymax - ymin + 1}`;
}

export function sayRect(rect: Rect): string {
  const [xmin, ymin, xmax, ymax] = rect;
  return `Box from ${xmin}, ${ymin} to ${xmax}, ${ymax}, ${sizeOf(rect)} pixels.`;
}

export function sayPixel([x, y]: Pixel): string {
  return `${x}, ${y}`;
}

export function sayPart(part: Part): string {
  return `Arrow keys now move ${PARTS[part]}.`;
}
