import type { Photo, Rect } from "../protocol";
import { Surface } from "./Surface";

export interface PhotoViewProps {
  photo: Photo;
  /** Already accepted: red. */
  boxes: readonly Rect[];
  /** Asked about: blue. */
  candidate?: Rect | null;
  /** The expected boxes: green and dashed. */
  expected?: readonly Rect[];
  /** Missing: there is no address, or the photo does not load after several attempts. */
  onState?(state: "loading" | "shown" | "missing"): void;
  /** Replaces a request for the same address, which may have expired. */
  onRetry?: (() => void) | undefined;
  /** For screen readers. */
  label: string;
}

/** A photo as large as fits its parent, with boxes over it; it can be zoomed and moved. */
export function PhotoView(props: PhotoViewProps) {
  return <Surface {...props} />;
}
