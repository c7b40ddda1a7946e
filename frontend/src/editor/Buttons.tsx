import { Icon } from "../photo/icons";
import type { Rect } from "../protocol";
import type { Editing } from "./useEditing";
import { sizeOf } from "./words";

interface ButtonsProps {
  editing: Editing;
  rect: Rect | null;
  /** Whether there are other boxes to hide. */
  others: boolean;
  hidden: boolean;
  hide(hidden: boolean): void;
}

export function Buttons({ editing, rect, others, hidden, hide }: ButtonsProps) {
  const { draft } = editing;
  const empty = !draft.rect && draft.points.length === 0;
  return (
    <>
      <Button icon="undo" text="Undo" keys="Ctrl+Z" off={!editing.canUndo} act={editing.undo} />
      <Button icon="redo" text="Redo" keys="Ctrl+Y" off={!editing.canRedo} act={editing.redo} />
      <Button
        icon="clear"
        text="Clear"
        keys="Delete"
        off={empty}
        act={() => editing.change({ rect: null, way: "", points: [] })}
      />
      {others && <HideButton hidden={hidden} hide={hide} />}
      <output class="editor-size">{rect && `${sizeOf(rect)} px`}</output>
    </>
  );
}

interface ButtonProps {
  icon: "undo" | "redo" | "clear";
  text: string;
  keys: string;
  off: boolean;
  act(): void;
}

// Not `disabled`: a button that is disabled while it has the focus would lose the focus.
function Button({ icon, text, keys, off, act }: ButtonProps) {
  return (
    <button
      type="button"
      class="photo-button"
      aria-disabled={off}
      title={`${text} (${keys})`}
      onClick={() => !off && act()}
    >
      <Icon name={icon} />
      <span class="editor-text">{text}</span>
    </button>
  );
}

/** Hides the other boxes while it is held. */
function HideButton({ hidden, hide }: { hidden: boolean; hide(hidden: boolean): void }) {
  const show = () => hide(false);
  const isPress = (event: KeyboardEvent) => event.key === " " || event.key === "Enter";
  return (
    <button
      type="button"
      class="photo-button editor-hold"
      aria-pressed={hidden}
      title="Hide the other boxes while you hold this, or the H key"
      onPointerDown={() => hide(true)}
      onPointerUp={show}
      onPointerLeave={show}
      onPointerCancel={show}
      onContextMenu={(event) => event.preventDefault()}
      onKeyDown={(event) => isPress(event) && hide(true)}
      onKeyUp={(event) => isPress(event) && show()}
      onBlur={show}
    >
      <Icon name="hide" />
      <span class="editor-text">Hold to hide boxes</span>
    </button>
  );
}
