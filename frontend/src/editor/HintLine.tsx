import type { Way } from "../protocol";
import type { Hint } from "./words";
import { hintsFor } from "./words";

/** What to do next. All possible hints are stacked in one place, so that the photo above never
 * changes its size in the middle of a drag. */
export function HintLine({ way, hint, id }: { way: Way; hint: Hint; id: string }) {
  return (
    <div class="editor-hints">
      {hintsFor(way).map(({ text, keys }) => {
        const now = text === hint.text && keys === hint.keys;
        return (
          <p
            key={text + keys}
            class={now ? "now" : ""}
            {...(now ? { id } : { "aria-hidden": true })}
          >
            {text} <span class="editor-keys">{keys}</span>
          </p>
        );
      })}
    </div>
  );
}
