import { useRef, useState } from "preact/hooks";
import type { Spot } from "../photo/useView";
import type { Point } from "../photo/view";
import type { Rect } from "../protocol";
import type { BoxEditorProps } from "./BoxEditor";
import type { Grip } from "./geometry";
import { adjusted, around, gripAt, heldPoint, isSame, pixelAt } from "./geometry";
import type { Editing } from "./useEditing";

/** What the pointer is doing. `rect` is the box as it would be now. */
export interface Gesture {
  readonly kind: "adjust" | "draw" | "mark";
  readonly from: Spot;
  readonly spot: Spot;
  readonly before: Rect | null;
  readonly grip: Grip | null;
  readonly rect: Rect | null;
  /** What the magnifier shows. */
  readonly focus: Point;
}

const REACH = 9;
const REACH_OF_FINGER = 22;
const MOVED = 4;
/** How far outside the photo a click still means its edge, in CSS pixels. */
const OUTSIDE = 24;
const DOUBLE_CLICK_MS = 250;

/** Mouse, pen and finger: drawing, marking points, and adjusting the existing box. */
export function useGesture(props: BoxEditorProps, editing: Editing) {
  const { photo, way } = props;
  const [gesture, setGesture] = useState<Gesture | null>(null);
  const [hovered, setHovered] = useState<Grip | null>(null);
  const latest = useRef<Gesture | null>(null);
  const marked = useRef({ at: 0, x: -1, y: -1 });
  const set = (next: Gesture | null) => {
    latest.current = next;
    setGesture(next);
  };

  const gripUnder = (spot: Spot): Grip | null => {
    const { rect, points } = editing.draft;
    if (!rect || points.length > 0) return null;
    return gripAt(rect, spot.view, spot.at, spot.coarse ? REACH_OF_FINGER : REACH);
  };

  const follow = (before: Gesture, spot: Spot): Gesture => {
    const { grip, from } = before;
    if (before.kind === "adjust" && grip && before.before) {
      const by = { x: spot.point.x - from.point.x, y: spot.point.y - from.point.y };
      const rect = adjusted(before.before, grip, by, photo);
      const focus = heldPoint(before.before, grip, by, spot.point, photo);
      return { ...before, spot, rect, focus };
    }
    const far = Math.hypot(spot.at.x - from.at.x, spot.at.y - from.at.y) >= MOVED;
    const draws = before.kind === "draw" && (far || before.rect) && crosses(from.point, spot.point);
    const corners = [pixelAt(from.point, photo), pixelAt(spot.point, photo)];
    return { ...before, spot, rect: draws ? around(corners) : null, focus: spot.point };
  };

  const crosses = (one: Point, other: Point) =>
    Math.max(one.x, other.x) > 0 &&
    Math.max(one.y, other.y) > 0 &&
    Math.min(one.x, other.x) < photo.width &&
    Math.min(one.y, other.y) < photo.height;

  const mark = ({ at, point, view }: Spot) => {
    const margin = OUTSIDE / view.scale;
    const inside = (place: number, length: number) => place > -margin && place < length + margin;
    if (!inside(point.x, photo.width) || !inside(point.y, photo.height)) return;
    const { at: time, x, y } = marked.current;
    const twice = Date.now() - time < DOUBLE_CLICK_MS && Math.hypot(at.x - x, at.y - y) < MOVED;
    marked.current = { at: Date.now(), ...at };
    if (!twice) editing.addPoint(pixelAt(point, photo));
  };

  return {
    gesture,
    hovered,
    tool: {
      hover: (spot: Spot | null) => setHovered(spot && gripUnder(spot)),
      press: (spot: Spot) => {
        const grip = gripUnder(spot);
        const kind = grip ? "adjust" : way === "drag" ? "draw" : "mark";
        const before = editing.draft.rect;
        const begun = {
          kind,
          from: spot,
          spot,
          before,
          grip,
          rect: null,
          focus: spot.point,
        } as const;
        set(follow(begun, spot));
      },
      move: (spot: Spot) => {
        if (latest.current) set(follow(latest.current, spot));
      },
      release: (spot: Spot) => {
        const done = latest.current && follow(latest.current, spot);
        set(null);
        if (done?.kind === "mark") mark(spot);
        else if (done?.rect && !isSame(done.rect, editing.draft.rect)) {
          const drawn = done.kind === "draw" ? way : editing.draft.way;
          editing.change({ rect: done.rect, way: drawn, points: [] });
        }
      },
      cancel: () => set(null),
    },
  };
}
