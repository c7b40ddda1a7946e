import { Box } from "../photo/Boxes";
import type { Placed } from "../photo/useView";
import type { Point } from "../photo/view";
import type { Rect } from "../protocol";
import { loupePlace, loupeSize, loupeView } from "./loupe";

interface LoupeProps {
  placed: Placed;
  /** Where the pointer is on the stage, and which image point to show. */
  at: Point;
  focus: Point;
  coarse: boolean;
  rect: Rect | null;
}

/** A piece of the photo, enlarged, beside the pointer. */
export function Loupe({ placed, at, focus, coarse, rect }: LoupeProps) {
  const { photo, stage } = placed;
  const size = loupeSize(stage);
  const view = loupeView(placed.view, focus, size);
  const place = loupePlace(at, stage, size, coarse);
  const half = size / 2;
  const cross = `M${half} ${half - 9}v18M${half - 9} ${half}h18`;
  return (
    <div
      class="loupe"
      style={{
        width: `${size}px`,
        height: `${size}px`,
        transform: `translate(${place.x}px, ${place.y}px)`,
      }}
    >
      {/* The same address: the browser has the picture already and asks for nothing. */}
      <img
        class={`photo-picture${view.scale > 3 ? " pixels" : ""}`}
        src={photo.url}
        alt=""
        style={{
          width: `${photo.width * view.scale}px`,
          height: `${photo.height * view.scale}px`,
          transform: `translate(${view.x}px, ${view.y}px)`,
        }}
      />
      <svg class="photo-overlay" aria-hidden="true">
        {rect && <Box rect={rect} view={view} kind="candidate" />}
        <path class="loupe-cross photo-casing" d={cross} />
        <path class="loupe-cross photo-line" d={cross} />
      </svg>
    </div>
  );
}
