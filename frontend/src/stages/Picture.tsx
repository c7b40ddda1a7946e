import type { JSX } from "preact";
import { PhotoView } from "../photo/PhotoView";
import { photoLabel, type StageProps } from "./stage";

/** The photo with the boxes it comes with. */
export function Picture({ item, feedback, onPhoto, onRetryPhoto }: StageProps): JSX.Element {
  return (
    <PhotoView
      photo={item.photo}
      boxes={item.boxes}
      candidate={item.candidate}
      expected={feedback?.expectedRects ?? []}
      onState={onPhoto}
      onRetry={onRetryPhoto}
      label={photoLabel(item)}
    />
  );
}
