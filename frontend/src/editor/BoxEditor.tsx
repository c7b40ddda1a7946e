import "./editor.css";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { Box } from "../photo/Boxes";
import type { PhotoViewProps } from "../photo/PhotoView";
import type { SurfaceProps } from "../photo/Surface";
import { Surface } from "../photo/Surface";
import type { Placed } from "../photo/useView";
import type { Rect, Way } from "../protocol";
import { Buttons } from "./Buttons";
import { Cross, centre, Former, Handles, Points } from "./Drawing";
import type { Grip } from "./geometry";
import { around } from "./geometry";
import { HintLine } from "./HintLine";
import { Loupe } from "./Loupe";
import { useEditing } from "./useEditing";
import type { Gesture } from "./useGesture";
import { useGesture } from "./useGesture";
import type { Keys } from "./useKeys";
import { useKeys, usePageKeys } from "./useKeys";
import { hintFor, sayRect } from "./words";

export interface BoxEditorProps extends PhotoViewProps {
  value: Rect | null;
  /** Which way to draw now. */
  way: Way;
  /** How `value` was drawn, if it was drawn earlier; defaults to `way`. */
  valueWay?: Way | "";
  /** A complete box and how it was drawn; adjusting a box does not change how it was drawn. */
  onChange(rect: Rect | null, way: Way | ""): void;
  disabled?: boolean;
}

/** Draws one box on a photo. Give it a key per question, so that each has its own undo. */
export function BoxEditor(props: BoxEditorProps) {
  const editing = useEditing(props);
  const { draft } = editing;
  const [said, say] = useSaid();
  const { gesture, hovered, tool } = useGesture(props, editing);
  const keys = useKeys(props, editing, say);
  const [hidden, setHidden] = useState(false);
  usePageKeys(!props.disabled, editing, setHidden);
  const hintId = useId();
  const hint = hintFor(props.way, draft.points.length, draft.rect, keys.part);

  const spoken = draft.points.length === 0 && draft.rect ? sayRect(draft.rect) : hint.text;
  const first = useRef(true);
  useEffect(() => {
    if (!first.current) say(spoken);
    first.current = false;
  }, [spoken]);

  const band =
    props.way === "drag" && draft.points.length > 0 && keys.cross
      ? around([...draft.points, keys.cross])
      : null;
  const live = gesture?.rect ?? band;
  const focus = keys.cross && { x: keys.cross[0] - 0.5, y: keys.cross[1] - 0.5 };

  const drawing = ({ view, stage, photo }: Placed) => (
    <>
      {draft.rect && (gesture?.kind === "draw" ? live : draft.points.length > 0) && (
        <Former rect={draft.rect} view={view} />
      )}
      {(live ?? (draft.points.length === 0 ? draft.rect : null)) && (
        <Box rect={(live ?? draft.rect) as Rect} view={view} kind="candidate" />
      )}
      {draft.rect && !live && draft.points.length === 0 && (
        <Handles rect={draft.rect} view={view} part={keys.part} />
      )}
      {keys.cross && <Cross pixel={keys.cross} placed={{ view, stage, photo }} />}
      <Points points={draft.points} view={view} />
    </>
  );

  // The same elements with and without the tools, so that the photo keeps its zoom.
  const tools: Partial<SurfaceProps> = {
    bare: hidden,
    tool: {
      ...tool,
      press: (spot) => {
        keys.hideCross();
        tool.press(spot);
      },
    },
    drawing,
    above: (placed) => <Magnifier {...{ placed, gesture, keys, band }} />,
    focus,
    hintId,
    hint: <HintLine way={props.way} hint={hint} id={hintId} />,
    buttons: (
      <Buttons
        editing={editing}
        rect={gesture?.rect ?? draft.rect}
        others={props.boxes.length > 0}
        hidden={hidden}
        hide={setHidden}
      />
    ),
    onKey: (event, onStage) => {
      if (!gesture || event.key !== "Escape") return keys.onKey(event, onStage);
      tool.cancel();
      return true;
    },
    onSpace: keys.onSpace,
    onFocusStage: (event) => {
      if ((event.currentTarget as Element).matches(":focus-visible")) keys.showCross();
    },
  };

  return (
    <div class={props.disabled ? "editor off" : `editor ${cursorClass(gesture?.grip ?? hovered)}`}>
      <Surface
        {...props}
        {...(props.disabled ? { candidate: props.value ?? props.candidate ?? null } : tools)}
      />
      <p class="editor-said" aria-live="polite">
        {said}
      </p>
    </div>
  );
}

interface MagnifierProps {
  placed: Placed;
  gesture: Gesture | null;
  keys: Keys;
  band: Rect | null;
}

const LARGE_SCALE = 12;
const SMALL_SIDE = 60;

/** The magnifier: always under a finger, otherwise only for edges, points and small boxes. */
function Magnifier({ placed, gesture, keys, band }: MagnifierProps) {
  const { scale } = placed.view;
  if (gesture) {
    const { spot, grip, rect, kind } = gesture;
    const moves = grip !== null && grip.x === 0 && grip.y === 0;
    const small = rect !== null && isSmall(rect, scale);
    const helps = kind === "draw" ? small : scale < LARGE_SCALE;
    if (moves || !(spot.coarse || helps) || scale >= 2 * LARGE_SCALE) return null;
    const { at, coarse } = spot;
    return <Loupe {...{ placed, at, coarse, rect }} focus={gesture.focus} />;
  }
  if (!keys.cross || scale >= LARGE_SCALE) return null;
  const focus = { x: keys.cross[0] - 0.5, y: keys.cross[1] - 0.5 };
  return (
    <Loupe
      placed={placed}
      at={centre(keys.cross, placed.view)}
      focus={focus}
      coarse={false}
      rect={band}
    />
  );
}

function isSmall([xmin, ymin, xmax, ymax]: Rect, scale: number): boolean {
  return Math.min(xmax - xmin + 1, ymax - ymin + 1) * scale < SMALL_SIDE;
}

function cursorClass(grip: Grip | null): string {
  if (!grip) return "";
  if (grip.x === 0 && grip.y === 0) return "at-inside";
  if (grip.x === 0) return "at-row";
  if (grip.y === 0) return "at-column";
  return grip.x === grip.y ? "at-falling" : "at-rising";
}

/** Text for screen readers, announced once it has not changed for a moment. */
function useSaid(): [string, (text: string) => void] {
  const [said, setSaid] = useState("");
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const say = (text: string) => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setSaid(text), 300);
  };
  return [said, say];
}
