import type { RefObject } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Photo } from "../protocol";
import type { Point, Size, View } from "./view";
import { resized, toImage, whole } from "./view";

export interface Placed {
  readonly photo: Photo;
  readonly stage: Size;
  readonly view: View;
}

/** Where a pointer is: on the stage, and on the photo. `coarse` is a finger. */
export interface Spot {
  readonly at: Point;
  readonly point: Point;
  readonly coarse: boolean;
  readonly view: View;
}

interface Pointed {
  readonly clientX: number;
  readonly clientY: number;
  readonly pointerType?: string;
}

export interface Stage {
  readonly ref: RefObject<HTMLDivElement | null>;
  /** Null until the stage has been measured. */
  readonly placed: Placed | null;
  /** The view at this moment, which may not have been rendered yet. */
  view(): View | null;
  change(how: (view: View, stage: Size, photo: Size) => View): void;
  /** Where an event happened, whatever the page's own zoom; null before there is a view. */
  spot(event: Pointed): Spot | null;
}

/** The stage's size as it is laid out, and the view of the photo on it. */
export function useView(photo: Photo): Stage {
  const ref = useRef<HTMLDivElement>(null);
  const [kept, setPlaced] = useState<Placed | null>(null);
  const same = kept && sameSize(kept.photo, photo) && kept.photo.url === photo.url;
  const placed =
    !kept || same ? kept : { photo, stage: kept.stage, view: whole(kept.stage, photo) };
  if (placed !== kept) setPlaced(placed);
  const latest = useRef(placed);
  latest.current = placed;
  const shown = useRef(photo);
  shown.current = photo;

  const put = (next: Placed) => {
    latest.current = next; // several events may come before the next rendering
    setPlaced(next);
  };

  useLayoutEffect(() => {
    const element = ref.current;
    if (!element) return;
    const observer = new ResizeObserver((entries) => {
      const stage = entries.at(-1)?.contentRect;
      if (!stage || stage.width < 1 || stage.height < 1) return;
      const size = { width: stage.width, height: stage.height };
      const old = latest.current;
      if (!old) {
        const photo = shown.current;
        return put({ photo, stage: size, view: whole(size, photo) });
      }
      if (sameSize(old.stage, size)) return;
      put({ ...old, stage: size, view: resized(old.view, old.stage, size, old.photo) });
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, []);

  return {
    ref,
    placed,
    change: (how) => {
      const old = latest.current;
      if (!old) return;
      const view = how(old.view, old.stage, old.photo);
      if (view !== old.view) put({ ...old, view });
    },
    view: () => latest.current?.view ?? null,
    spot: (event) => {
      const box = ref.current?.getBoundingClientRect();
      const now = latest.current;
      if (!box || !now) return null;
      // The two sizes differ where an ancestor is scaled or zoomed.
      const at = {
        x: ((event.clientX - box.left) / (box.width || 1)) * now.stage.width,
        y: ((event.clientY - box.top) / (box.height || 1)) * now.stage.height,
      };
      const { view } = now;
      return { at, point: toImage(view, at), coarse: event.pointerType === "touch", view };
    },
  };
}

function sameSize(a: Size, b: Size): boolean {
  return a.width === b.width && a.height === b.height;
}
