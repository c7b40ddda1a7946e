import { useRef, useState } from "preact/hooks";
import type { Rect, Way } from "../protocol";
import type { BoxEditorProps } from "./BoxEditor";
import type { Pixel } from "./geometry";
import { around, isSame } from "./geometry";
import type { History } from "./history";
import { begun, changed, redone, undone } from "./history";
import { POINTS } from "./words";

/** The box, how it was drawn, and the points marked so far for the next one. */
export interface Draft {
  readonly rect: Rect | null;
  readonly way: Way | "";
  readonly points: readonly Pixel[];
}

export interface Editing {
  readonly draft: Draft;
  readonly canUndo: boolean;
  readonly canRedo: boolean;
  /** Set the draft; `tag` as in the history. */
  change(draft: Draft, tag?: string): void;
  /** A further point or corner: the last one makes the box. */
  addPoint(pixel: Pixel): void;
  undo(): void;
  redo(): void;
}

/** The box with undo and redo; reports every complete box to the parent. */
export function useEditing(props: BoxEditorProps): Editing {
  const { value, way, photo } = props;
  const fresh = () => begun<Draft>({ rect: value, way: props.valueWay || way, points: [] });
  const [, render] = useState(0);
  const history = useRef<History<Draft> | null>(null);
  const seen = useRef({ value, way, url: photo.url });
  history.current ??= fresh();

  if (seen.current.url !== photo.url) history.current = fresh();
  const { now } = history.current;
  // Something else changed the box, such as "No further box needed": that can be undone, too.
  if (!isSame(seen.current.value, value) && !isSame(now.rect, value)) {
    history.current = changed(history.current, {
      rect: value,
      way: props.valueWay || now.way || way,
      points: [],
    });
  }
  if (seen.current.way !== way && now.points.length > 0) {
    history.current = changed(history.current, { ...now, points: [] });
  }
  seen.current = { value, way, url: photo.url };

  const set = (next: History<Draft>) => {
    const before = history.current?.now ?? null;
    history.current = next;
    render((count) => count + 1);
    const { rect, way: drawn } = next.now;
    if (!isSame(rect, before?.rect ?? null)) props.onChange(rect, rect ? drawn : "");
  };
  const current = () => history.current as History<Draft>;
  const change = (draft: Draft, tag = "") => set(changed(current(), draft, tag, Date.now()));

  return {
    draft: current().now,
    canUndo: current().past.length > 0,
    canRedo: current().future.length > 0,
    change,
    addPoint: (pixel) => {
      const points = [...current().now.points, pixel];
      const needed = way === "drag" ? 2 : POINTS;
      if (points.length < needed) change({ ...current().now, points });
      else change({ rect: around(points), way, points: [] });
    },
    undo: () => set(undone(current())),
    redo: () => set(redone(current())),
  };
}
