import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { Key } from "./Key";

interface NavigationProps {
  readonly position: number;
  readonly count: number;
  /** Positions that must be answered before the sitting can be submitted. */
  readonly open: readonly number[];
  readonly finishing: "no" | "sending" | "retrying";
  /** A test has just graded this answer: the next step is the next question. */
  readonly judged: boolean;
  onGo(position: number): void;
  onNext(): void;
  onSubmit(): void;
}

/** Previous, next, submit. */
export function Navigation(props: NavigationProps): JSX.Element {
  const { position, count, open, finishing, judged, onGo } = props;
  const next = useRef<HTMLButtonElement>(null);
  const complete = open.length === 0;
  const last = position === count - 1;
  // The button that had the focus is locked now: move the focus to Next.
  useEffect(() => {
    if (judged && document.activeElement === document.body) next.current?.focus();
  }, [judged]);
  const toFirst = (): void => {
    if (open[0] !== undefined) onGo(open[0]);
  };
  return (
    <div class="navigation">
      <button
        type="button"
        class="button quiet"
        disabled={position === 0 || finishing !== "no"}
        aria-keyshortcuts="p"
        onClick={() => onGo(position - 1)}
      >
        Prev <Key name="P" />
      </button>
      <button
        type="button"
        class="button quiet"
        ref={next}
        disabled={(last && complete) || finishing !== "no"}
        aria-keyshortcuts="Enter"
        onClick={props.onNext}
      >
        Next <Key name="↵" />
      </button>
      <button
        type="button"
        class="button strong submit"
        aria-disabled={!complete || finishing !== "no"}
        onClick={complete ? props.onSubmit : toFirst}
      >
        {finishing === "no" ? "Submit" : "Sending…"}
        {!complete && <small>{open.length} left</small>}
      </button>
      <p class={finishing === "retrying" ? "submit-state" : "unseen"} role="status">
        {stateText(complete, finishing)}
      </p>
    </div>
  );
}

function stateText(complete: boolean, finishing: NavigationProps["finishing"]): string {
  if (finishing === "retrying") {
    return "Not sent yet. Your answers are kept here and will be sent as soon as the server can be reached.";
  }
  return complete && finishing === "no" ? "All questions are answered. You can submit now." : "";
}
