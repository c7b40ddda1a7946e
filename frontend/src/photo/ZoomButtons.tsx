import { Icon } from "./icons";
import type { Placed } from "./useView";
import type { Point } from "./view";
import { isWhole, zoom } from "./view";

const FACTOR = 1.5;
const PAN = 40;

export interface Zooming {
  zoomBy(factor: number): void;
  showAll(): void;
}

export function ZoomButtons({ zoomBy, showAll, placed }: Zooming & { placed: Placed | null }) {
  const atLeast = !placed || isWhole(placed.view, placed.stage, placed.photo);
  const atMost = !placed || isLargest(placed);
  return (
    // biome-ignore lint/a11y/useSemanticElements: these are not form fields
    <div class="photo-zoom" role="group" aria-label="Zoom">
      <button
        type="button"
        class="photo-button"
        aria-label="Zoom out"
        title="Zoom out (−)"
        aria-disabled={atLeast}
        onClick={() => zoomBy(1 / FACTOR)}
      >
        <Icon name="minus" />
      </button>
      <button
        type="button"
        class="photo-button photo-whole"
        aria-label="Show the whole photo"
        title="Show the whole photo (0)"
        aria-disabled={atLeast}
        onClick={showAll}
      >
        <Icon name="fit" />
      </button>
      <button
        type="button"
        class="photo-button"
        aria-label="Zoom in"
        title="Zoom in (+)"
        aria-disabled={atMost}
        onClick={() => zoomBy(FACTOR)}
      >
        <Icon name="plus" />
      </button>
    </div>
  );
}

function isLargest({ view, stage, photo }: Placed): boolean {
  return zoom(view, stage, photo, FACTOR, { x: 0, y: 0 }).scale === view.scale;
}

export function zoomKey(event: KeyboardEvent, { zoomBy, showAll }: Zooming): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey) return false;
  if (event.key === "+" || event.key === "=") zoomBy(FACTOR);
  else if (event.key === "-" || event.key === "−") zoomBy(1 / FACTOR);
  else if (event.key === "0") showAll();
  else return false;
  return true;
}

export function panKey(event: KeyboardEvent, panBy: (by: Point) => void): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey) return false;
  if (event.key === "ArrowLeft") panBy({ x: PAN, y: 0 });
  else if (event.key === "ArrowRight") panBy({ x: -PAN, y: 0 });
  else if (event.key === "ArrowUp") panBy({ x: 0, y: PAN });
  else if (event.key === "ArrowDown") panBy({ x: 0, y: -PAN });
  else return false;
  return true;
}
