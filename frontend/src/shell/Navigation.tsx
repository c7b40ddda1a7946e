import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { Key } from "./Key";

interface NavigationProps {
  readonly position: number;
  readonly count: number;
  /** Positions that keep the sitting from being handed in. */
  readonly open: readonly number[];
  readonly finishing: "no" | "sending" | "retrying";
  /** A test has just said something about this answer: the way on is to the next question. */
  readonly judged: boolean;
  onGo(position: number): void;
  onNext(): void;
  onSubmit(): void;
}

const SUBMIT_TEXT = { no: "Submit", sending: "Sending…", retrying: "Trying again…" } as const;

/** Previous, next, submit. */
export function Navigation(props: NavigationProps): JSX.Element {
  const { position, count, open, finishing, judged, onGo } = props;
  const next = useRef<HTMLButtonElement>(null);
  const submit = useRef<HTMLButtonElement>(null);
  const complete = open.length === 0;
  const last = position === count - 1;
  // The buttons that had the focus are locked now: give it to the one that goes on.
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
        Previous <Key name="P" />
      </button>
      <button
        type="button"
        class="button quiet"
        ref={next}
        disabled={(last && complete) || finishing !== "no"}
        aria-keyshortcuts="Enter"
        onClick={props.onNext}
      >
        Next <Key name="Enter" />
      </button>
      <button
        type="button"
        class="button strong submit"
        ref={submit}
        aria-disabled={!complete || finishing !== "no"}
        aria-describedby="submit-state"
        onClick={complete ? props.onSubmit : toFirst}
      >
        {SUBMIT_TEXT[finishing]}
      </button>
      <p class="submit-state" id="submit-state" role="status">
        {complete ? (
          finishing === "retrying" ? (
            "No connection: your answers are kept and sent as soon as it is back."
          ) : (
            finishing === "no" && "All questions are answered."
          )
        ) : (
          <button type="button" class="link" onClick={toFirst}>
            {open.length === 1 ? "1 question" : `${open.length} questions`} left to answer
          </button>
        )}
      </p>
    </div>
  );
}
