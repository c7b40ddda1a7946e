import { Box } from "../photo/Boxes";
import type { Placed } from "../photo/useView";
import type { View } from "../photo/view";
import { onStage, toStage } from "../photo/view";
import type { Rect } from "../protocol";
import type { Part, Pixel } from "./geometry";

const HANDLE = 10;
/** Shorter sides have no handle in the middle: it would cover them completely. */
const ROOM = 44;

/** The handles of a box, with those marked that the arrow keys move. */
export function Handles({ rect, view, part }: { rect: Rect; view: View; part: Part }) {
  const box = onStage(rect, view);
  const places = [-1, 0, 1].flatMap((y) => [-1, 0, 1].map((x) => ({ x, y })));
  return (
    <g class="editor-handles">
      {places
        .filter(({ x, y }) => x !== 0 || y !== 0)
        .filter(({ x, y }) => (x !== 0 || box.width >= ROOM) && (y !== 0 || box.height >= ROOM))
        .map(({ x, y }) => (
          <rect
            key={`${x} ${y}`}
            class={isHeld(part, x, y) ? "held" : ""}
            x={box.x + ((x + 1) / 2) * box.width - HANDLE / 2}
            y={box.y + ((y + 1) / 2) * box.height - HANDLE / 2}
            width={HANDLE}
            height={HANDLE}
          />
        ))}
    </g>
  );
}

function isHeld(part: Part, x: number, y: number): boolean {
  return (part === "start" && x + y === -2) || (part === "end" && x + y === 2);
}

/** The points marked so far, in order. */
export function Points({ points, view }: { points: readonly Pixel[]; view: View }) {
  return (
    <>
      {points.map((pixel, index) => {
        const at = centre(pixel, view);
        return (
          <g key={index} class="editor-point">
            <circle cx={at.x} cy={at.y} r={4} />
            <text x={at.x + 7} y={at.y - 7}>
              {index + 1}
            </text>
          </g>
        );
      })}
    </>
  );
}

/** Lines across the stage that meet in the pixel that Enter would mark. */
export function Cross({ pixel, placed }: { pixel: Pixel; placed: Placed }) {
  const { x, y } = centre(pixel, placed.view);
  const { width, height } = placed.stage;
  const gap = 6;
  const path = `M0 ${y}H${x - gap}M${x + gap} ${y}H${width}M${x} 0V${y - gap}M${x} ${y + gap}V${height}`;
  return (
    <g class="editor-cross">
      <path class="photo-casing" d={path} />
      <path class="photo-line" d={path} />
      <circle cx={x} cy={y} r={1.5} />
    </g>
  );
}

export function Former({ rect, view }: { rect: Rect; view: View }) {
  return (
    <g class="editor-former">
      <Box rect={rect} view={view} kind="candidate" />
    </g>
  );
}

export function centre([x, y]: Pixel, view: View) {
  return toStage(view, { x: x - 0.5, y: y - 0.5 });
}
