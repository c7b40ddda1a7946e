import "./photo.css";
import { Boxes } from "./Boxes";
import type { PhotoViewProps } from "./PhotoView";
import { usePhoto } from "./usePhoto";
import { useView } from "./useView";

/** The stage that a photo lies on, with what is drawn over it and the buttons below. */
export function Surface(props: PhotoViewProps) {
  const { photo } = props;
  const loading = usePhoto(photo.url, props.onState);
  const stage = useView(photo);
  const { state } = loading;
  const view = stage.placed?.view;
  const place = view && {
    width: `${photo.width * view.scale}px`,
    height: `${photo.height * view.scale}px`,
    transform: `translate(${view.x}px, ${view.y}px)`,
  };
  return (
    <div class="photo">
      <div class="photo-stage" ref={stage.ref}>
        {photo.url && state !== "missing" && place && (
          <img
            key={loading.attempt}
            class={`photo-picture ${state}`}
            src={photo.url}
            alt={props.label}
            decoding="async"
            draggable={false}
            style={place}
            onLoad={loading.loaded}
            onError={loading.failed}
          />
        )}
        {view && state === "shown" && (
          <svg class="photo-overlay" aria-hidden="true">
            <Boxes rects={props.boxes} view={view} kind="accepted" />
            <Boxes rects={props.expected ?? []} view={view} kind="expected" />
            <Boxes rects={props.candidate ? [props.candidate] : []} view={view} kind="candidate" />
          </svg>
        )}
        {state === "missing" && (
          <div class="photo-missing" role="alert">
            <p>{photo.url ? "The photo could not be loaded." : "This photo is missing."}</p>
            {photo.url && (
              <button type="button" onClick={loading.retry}>
                Try again
              </button>
            )}
          </div>
        )}
      </div>
    </div>
  );
}
