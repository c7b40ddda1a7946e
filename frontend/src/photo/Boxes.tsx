import type { Rect } from "../protocol";
import type { View } from "./view";
import { onStage } from "./view";

export type Kind = "accepted" | "candidate" | "expected";

/** One box over the photo: a coloured line on a white one, visible on any photo. */
export function Box({ rect, view, kind }: { rect: Rect; view: View; kind: Kind }) {
  const place = onStage(rect, view);
  return (
    <g class={`photo-box ${kind}`} data-rect={rect.join(" ")}>
      <rect class="photo-casing" {...place} />
      <rect class="photo-line" {...place} />
    </g>
  );
}

export function Boxes(props: { rects: readonly Rect[]; view: View; kind: Kind }) {
  return (
    <>
      {props.rects.map((rect, index) => (
        <Box key={`${index} ${rect.join(" ")}`} rect={rect} view={props.view} kind={props.kind} />
      ))}
    </>
  );
}
