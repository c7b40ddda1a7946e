import type { PhotoViewProps } from "../photo/PhotoView";
import { Surface } from "../photo/Surface";
import type { Rect, Way } from "../protocol";

export interface BoxEditorProps extends PhotoViewProps {
  value: Rect | null;
  /** Which way to draw now. */
  way: Way;
  /** Which way `value` was drawn, where it was drawn earlier; `way` if it is not said. */
  valueWay?: Way | "";
  /** A whole box, and how it came about: adjusting a box keeps its way. */
  onChange(rect: Rect | null, way: Way | ""): void;
  disabled?: boolean;
}

/** Draws one box on a photo. Give it a key per question, so that each has its own undo. */
export function BoxEditor(props: BoxEditorProps) {
  return <Surface {...props} candidate={props.value} />;
}
