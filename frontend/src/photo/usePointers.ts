import { useEffect, useRef } from "preact/hooks";
import type { Spot, Stage } from "./useView";
import type { Point, View } from "./view";
import { isWhole, pan, pinch, zoom } from "./view";

/** What one pointer does on the stage when it does not move the photo. */
export interface Tool {
  hover(spot: Spot | null): void;
  press(spot: Spot): void;
  move(spot: Spot): void;
  release(spot: Spot): void;
  /** Forget the press: a second finger came, or the system took the pointer. */
  cancel(): void;
}

interface Options {
  tool: Tool | null;
  isPanKey(): boolean;
  /** There is nothing to move yet. */
  off: boolean;
}

type Doing = "nothing" | "tool" | "pan" | "pinch" | "done";
type Pair = readonly [Point, Point];

const WHEEL_PIXELS = 300; // of wheel for e times the scale
const LINE_PIXELS = 40;
const WHEEL_REST_MS = 400;

/** Mouse, pen and touch on the stage: two fingers or the wheel zoom. A drag uses the tool; it moves
 * the photo if there is no tool, with the middle button, or while `isPanKey` is true. */
export function usePointers(stage: Stage, { tool, isPanKey, off }: Options) {
  const fingers = useRef(new Map<number, Point>());
  const doing = useRef<Doing>("nothing");
  const start = useRef<{ view: View; pair: Pair } | null>(null);
  useWheel(stage);

  const beginPinch = () => {
    if (doing.current === "tool") tool?.cancel();
    const pair = pairOf(fingers.current);
    doing.current = "done";
    if (!pair || !stage.view()) return;
    start.current = { view: stage.view() as View, pair };
    doing.current = "pinch";
  };

  const onPointerDown = (event: PointerEvent) => {
    const spot = stage.spot(event);
    if (off || !spot || event.button > 1) return;
    // Lets the pointer leave the stage; fails if the pointer is already gone.
    try {
      (event.currentTarget as Element).setPointerCapture(event.pointerId);
    } catch {}
    fingers.current.set(event.pointerId, spot.at);
    if (fingers.current.size === 2) return beginPinch();
    if (fingers.current.size > 2) return;
    doing.current = tool && event.button === 0 && !isPanKey() ? "tool" : "pan";
    if (doing.current === "tool") tool?.press(spot);
  };

  const onPointerMove = (event: PointerEvent) => {
    const spot = stage.spot(event);
    if (!spot) return;
    const before = fingers.current.get(event.pointerId);
    if (!before) return tool?.hover(event.pointerType === "touch" ? null : spot);
    fingers.current.set(event.pointerId, spot.at);
    if (doing.current === "tool") tool?.move(spot);
    if (doing.current === "pan") {
      const by = { x: spot.at.x - before.x, y: spot.at.y - before.y };
      stage.change((view, size, photo) => pan(view, size, photo, by));
    }
    const [from, to] = [start.current, pairOf(fingers.current)];
    if (doing.current === "pinch" && from && to) {
      stage.change((_, size, photo) => pinch(from.view, size, photo, from.pair, to));
    }
  };

  const lift = (event: PointerEvent, end: () => void) => {
    if (!fingers.current.delete(event.pointerId)) return;
    if (doing.current === "tool") end();
    doing.current = fingers.current.size > 0 ? "done" : "nothing";
  };

  return {
    onPointerDown,
    onPointerMove,
    onPointerUp: (event: PointerEvent) =>
      lift(event, () => {
        const spot = stage.spot(event);
        if (spot) tool?.release(spot);
      }),
    onPointerCancel: (event: PointerEvent) => lift(event, () => tool?.cancel()),
    onLostPointerCapture: (event: PointerEvent) => lift(event, () => tool?.cancel()),
    onPointerLeave: () => tool?.hover(null),
    // The middle button would start the browser's own scrolling.
    onMouseDown: (event: MouseEvent) => {
      if (event.button === 1) event.preventDefault();
    },
  };
}

function pairOf(fingers: ReadonlyMap<number, Point>): Pair | null {
  const [one, other] = fingers.values();
  return one && other ? [one, other] : null;
}

/** The wheel zooms at the pointer. If it cannot zoom further, it scrolls the page, but not in the
 * same turn of the wheel. */
function useWheel(stage: Stage): void {
  const latest = useRef(stage);
  latest.current = stage;
  useEffect(() => {
    const element = latest.current.ref.current;
    if (!element) return;
    let zoomedAt = Number.NEGATIVE_INFINITY;
    const onWheel = (event: WheelEvent) => {
      const spot = latest.current.spot(event);
      if (!spot || event.deltaY === 0) return;
      const unit = event.deltaMode === 0 ? 1 : LINE_PIXELS;
      // A pinch on a touchpad comes as small steps with Ctrl.
      const speed = event.ctrlKey ? 4 : 1;
      const step = Math.max(-200, Math.min(200, event.deltaY * unit * speed));
      const before = latest.current.view();
      latest.current.change((view, size, photo) => {
        if (step > 0 && isWhole(view, size, photo)) return view;
        return zoom(view, size, photo, Math.exp(-step / WHEEL_PIXELS), spot.at);
      });
      const zoomed = latest.current.view()?.scale !== before?.scale;
      if (zoomed) zoomedAt = event.timeStamp;
      if (event.ctrlKey || event.timeStamp - zoomedAt < WHEEL_REST_MS) event.preventDefault();
    };
    // A passive listener could not keep the page from scrolling.
    element.addEventListener("wheel", onWheel, { passive: false });
    return () => element.removeEventListener("wheel", onWheel);
  }, []);
}
