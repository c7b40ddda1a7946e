import type { Point, Size, View } from "../photo/view";
import { MAX_SCALE } from "../photo/view";

const LARGEST = 120;
const TIMES = 4;

/** How large the magnifier may be on a stage. */
export function loupeSize(stage: Size): number {
  return Math.min(LARGEST, stage.height * 0.45, stage.width * 0.45);
}

/** A view with an image point in the middle of a square of this size. */
export function loupeView(view: View, focus: Point, size: number): View {
  const scale = Math.max(view.scale, Math.min(MAX_SCALE, view.scale * TIMES));
  return { scale, x: size / 2 - focus.x * scale, y: size / 2 - focus.y * scale };
}

/** The magnifier's top left: above the pointer, or else beside or below it; where the stage has no
 * room for that, in the corner that is farthest away. */
export function loupePlace(at: Point, stage: Size, size: number, coarse: boolean): Point {
  const gap = coarse ? 40 : 24;
  const [x, y] = [at.x - size / 2, at.y - size / 2];
  const sideways = [at.x - gap - size, at.x + gap];
  if (at.x < stage.width / 2) sideways.reverse();
  const places = [
    { x, y: at.y - gap - size },
    ...sideways.map((left) => ({ x: left, y })),
    { x, y: at.y + gap },
    ...sideways.map((left) => ({ x: left, y: at.y < stage.height / 2 ? stage.height - size : 0 })),
  ];
  const fits = (place: Point) =>
    place.x >= 0 && place.y >= 0 && place.x <= stage.width - size && place.y <= stage.height - size;
  return (
    places.find(fits) ?? {
      x: at.x < stage.width / 2 ? stage.width - size : 0,
      y: at.y < stage.height / 2 ? stage.height - size : 0,
    }
  );
}
