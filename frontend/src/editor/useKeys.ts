import { useLayoutEffect, useState } from "preact/hooks";
import { isTaken } from "../keys";
import type { BoxEditorProps } from "./BoxEditor";
import type { Part, Pixel } from "./geometry";
import { between, nudged } from "./geometry";
import type { Editing } from "./useEditing";
import { partAfter, sayPart, sayPixel, sayRect } from "./words";

const ARROWS: Readonly<Record<string, Pixel>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};
const FAR = 10;

export interface Keys {
  /** The pixel that Enter would mark; null while it is not shown. */
  readonly cross: Pixel | null;
  readonly part: Part;
  onKey(event: KeyboardEvent, onStage: boolean): boolean;
  onSpace(): void;
  showCross(): void;
  hideCross(): void;
}

/** Drawing and adjusting with the keyboard alone. Without a box the arrows move a cross and Enter
 * sets corners or points; with a box they move it, or the corner selected with Space. */
export function useKeys(
  props: BoxEditorProps,
  editing: Editing,
  say: (text: string) => void,
): Keys {
  const { photo } = props;
  const { draft } = editing;
  const [cross, setCross] = useState<Pixel | null>(null);
  const [part, setPart] = useState<Part>("whole");
  const marking = draft.points.length > 0 || draft.rect === null;

  const showCross = () => {
    if (!marking || cross) return;
    const middle: Pixel = [Math.ceil(photo.width / 2), Math.ceil(photo.height / 2)];
    setCross(draft.points.at(-1) ?? middle);
  };
  const set = () => {
    if (!cross) return showCross();
    editing.addPoint(cross);
  };
  const arrow = ([x, y]: Pixel, far: boolean) => {
    const by: Pixel = far ? [x * FAR, y * FAR] : [x, y];
    if (marking) {
      const from = cross ?? [Math.ceil(photo.width / 2), Math.ceil(photo.height / 2)];
      const to: Pixel = [
        between(from[0] + by[0], 1, photo.width),
        between(from[1] + by[1], 1, photo.height),
      ];
      setCross(to);
      say(sayPixel(to));
    } else if (draft.rect) {
      const rect = nudged(draft.rect, part, by, photo);
      editing.change({ ...draft, rect }, `nudge ${part}`);
      say(sayRect(rect));
    }
  };
  const stepBack = (): boolean => {
    if (draft.points.length > 0) editing.undo();
    else if (part !== "whole") setPart("whole");
    else if (cross) setCross(null);
    else return false;
    return true;
  };
  const clear = (): boolean => {
    if (!draft.rect && draft.points.length === 0) return false;
    editing.change({ rect: null, way: "", points: [] });
    return true;
  };

  return {
    cross: marking ? cross : null,
    part: marking ? "whole" : part,
    showCross,
    hideCross: () => setCross(null),
    onSpace: () => {
      if (marking) return set();
      setPart(partAfter(part));
      say(sayPart(partAfter(part)));
    },
    onKey: (event, onStage) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return false;
      if (event.key === "Escape") return stepBack();
      if (event.key === "Delete" || event.key === "Backspace") return clear();
      if (!onStage) return false;
      const by = ARROWS[event.key];
      if (by) arrow(by, event.shiftKey);
      else if (event.key === "Enter" && marking && !event.repeat) set();
      else return false;
      return true;
    },
  };
}

function undoKey(event: KeyboardEvent, editing: Editing): boolean {
  if (!(event.ctrlKey || event.metaKey) || event.altKey) return false;
  const key = event.key.toLowerCase();
  if (key === "z" && !event.shiftKey) editing.undo();
  else if (key === "y" || (key === "z" && event.shiftKey)) editing.redo();
  else return false;
  return true;
}

/** Keys that work wherever the focus is, except in text fields: undo, redo and H. */
export function usePageKeys(on: boolean, editing: Editing, hide: (hidden: boolean) => void): void {
  useLayoutEffect(() => {
    if (!on) return;
    const down = (event: KeyboardEvent) => {
      if (event.defaultPrevented || isTaken(event.target)) return;
      const plain = !event.ctrlKey && !event.metaKey && !event.altKey;
      if (plain && event.key.toLowerCase() === "h") hide(true);
      else if (!undoKey(event, editing)) return;
      event.preventDefault();
      event.stopPropagation();
    };
    const up = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() === "h") hide(false);
    };
    const show = () => hide(false);
    document.addEventListener("keydown", down);
    document.addEventListener("keyup", up);
    window.addEventListener("blur", show);
    return () => {
      document.removeEventListener("keydown", down);
      document.removeEventListener("keyup", up);
      window.removeEventListener("blur", show);
    };
  });
}
