import "./photo.css";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { Boxes } from "./Boxes";
import type { PhotoViewProps } from "./PhotoView";
import type { Loading } from "./usePhoto";
import { usePhoto } from "./usePhoto";
import type { Tool } from "./usePointers";
import { usePointers } from "./usePointers";
import type { Placed } from "./useView";
import { useView } from "./useView";
import type { Point, View } from "./view";
import { isWhole, pan, reveal, toStage, whole, zoom } from "./view";
import { panKey, ZoomButtons, zoomKey } from "./ZoomButtons";

export interface SurfaceProps extends PhotoViewProps {
  tool?: Tool | null;
  /** Leave out the boxes that are not being drawn. */
  bare?: boolean;
  /** SVG over the boxes, and HTML over that. */
  drawing?(placed: Placed): ComponentChildren;
  above?(placed: Placed): ComponentChildren;
  /** Below the stage: a line of text, and buttons before those that zoom. */
  hint?: ComponentChildren;
  hintId?: string;
  buttons?: ComponentChildren;
  /** An image point to keep in sight, and to zoom around. */
  focus?: Point | null;
  /** Returns whether it handled the key. `onStage`: the stage had the focus, not a button. */
  onKey?(event: KeyboardEvent, onStage: boolean): boolean;
  /** The space bar was pressed and let go on the stage with no dragging in between. */
  onSpace?(): void;
  onFocusStage?(event: FocusEvent): void;
}

/** The stage with a photo, everything drawn over it and the buttons below. */
export function Surface(props: SurfaceProps) {
  const { photo } = props;
  const loading = usePhoto(photo.url, props.onState);
  const stage = useView(photo);
  const shown = loading.state === "shown";
  const tool = shown ? (props.tool ?? null) : null;
  const space = useRef<"up" | "down" | "used">("up");
  const isPanKey = () => {
    if (space.current === "up") return false;
    space.current = "used";
    return true;
  };
  const pointers = usePointers(stage, { tool, isPanKey, off: !shown });
  const { placed } = stage;
  const free = placed !== null && !isWhole(placed.view, placed.stage, photo);

  const focus = props.focus;
  useEffect(() => {
    if (focus) stage.change((view, size, of) => reveal(view, size, of, focus));
  }, [focus?.x, focus?.y]);

  const zoomBy = (factor: number) =>
    stage.change((view, size, of) => {
      const middle = { x: size.width / 2, y: size.height / 2 };
      return zoom(view, size, of, factor, focus ? toStage(view, focus) : middle);
    });
  const showAll = () => stage.change((_, size, of) => whole(size, of));
  const panBy = (by: Point) => stage.change((view, size, of) => pan(view, size, of, by));

  const onKeyDown = (event: KeyboardEvent) => {
    const onStage = event.target === stage.ref.current;
    if (onStage && tool && event.key === " ") {
      if (space.current === "up") space.current = "down";
    } else if (
      !(shown && props.onKey?.(event, onStage)) &&
      !zoomKey(event, { zoomBy, showAll }) &&
      !(onStage && !tool && free && panKey(event, panBy))
    ) {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  };
  const onKeyUp = (event: KeyboardEvent) => {
    if (event.key !== " " || space.current === "up") return;
    if (space.current === "down") props.onSpace?.();
    space.current = "up";
    event.preventDefault();
    event.stopPropagation();
  };

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: keys come from the stage and the buttons
    <div class="photo" onKeyDown={onKeyDown} onKeyUp={onKeyUp}>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: its role is one of two */}
      {/* biome-ignore lint/a11y/useAriaPropsSupportedByRole: both may be labelled */}
      <div
        class={`photo-stage${props.tool ? " tool" : ""}${free ? " free" : ""}`}
        ref={stage.ref}
        role={props.tool ? "application" : "group"}
        aria-label={props.label}
        aria-describedby={props.hintId}
        aria-busy={loading.state === "loading"}
        tabIndex={0}
        onFocus={props.onFocusStage}
        onBlur={() => {
          space.current = "up";
        }}
        onContextMenu={(event) => tool && event.preventDefault()} // of a long touch
        {...pointers}
      >
        {placed && <Picture {...{ props, placed, loading }} />}
        {loading.state === "missing" && (
          <Missing url={photo.url} retry={props.onRetry ?? (photo.url ? loading.retry : null)} />
        )}
      </div>
      {loading.state !== "missing" && (
        <>
          {props.hint}
          <div class="photo-bar">
            {props.buttons}
            <ZoomButtons {...{ zoomBy, showAll, placed }} />
          </div>
        </>
      )}
    </div>
  );
}

function Picture(parts: { props: SurfaceProps; placed: Placed; loading: Loading }) {
  const { props, placed, loading } = parts;
  const { photo } = props;
  const { view } = placed;
  if (loading.state === "missing") return null;
  const place = {
    width: `${photo.width * view.scale}px`,
    height: `${photo.height * view.scale}px`,
    transform: `translate(${view.x}px, ${view.y}px)`,
  };
  const pixels = view.scale > 3 ? " pixels" : "";
  return (
    <>
      <img
        key={`${photo.url} ${loading.attempt}`}
        class={`photo-picture ${loading.state}${pixels}`}
        src={photo.url}
        alt=""
        decoding="async"
        draggable={false}
        style={place}
        onLoad={loading.loaded}
        onError={loading.failed}
      />
      {loading.state === "loading" && <div class="photo-skeleton" style={place} />}
      {loading.state === "shown" && (
        <>
          <svg class="photo-overlay" aria-hidden="true">
            {!props.bare && <AllBoxes props={props} view={view} />}
            {props.drawing?.(placed)}
          </svg>
          {props.above?.(placed)}
        </>
      )}
    </>
  );
}

function AllBoxes({ props, view }: { props: SurfaceProps; view: View }) {
  return (
    <>
      <Boxes rects={props.boxes} view={view} kind="accepted" />
      <Boxes rects={props.expected ?? []} view={view} kind="expected" />
      <Boxes rects={props.candidate ? [props.candidate] : []} view={view} kind="candidate" />
    </>
  );
}

function Missing({ url, retry }: { url: string; retry: (() => void) | null }) {
  return (
    <div class="photo-missing" role="alert">
      <p>{url ? "The photo could not be loaded." : "The photo of this question is missing."}</p>
      {retry && (
        <button type="button" class="photo-button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  );
}
