import type { JSX } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { Caption, Mark } from "../protocol";
import { runsOf } from "./spacing";

/** How many looks there are for marks, defined in `styles/colours.css`; further marks reuse them. */
export const LOOKS = 6;

export function markLook(colour: number): number {
  return ((((colour - 1) % LOOKS) + LOOKS) % LOOKS) + 1;
}

interface CaptionsProps {
  readonly captions: readonly Caption[];
  /** Distinguishes these captions from others on the page. */
  readonly of?: string;
}

/** The captions with their marks; the first mark is scrolled into view. */
export function Captions({ captions, of = "" }: CaptionsProps): JSX.Element {
  const area = useRef<HTMLElement>(null);
  const colours = new Set(captions.flatMap((caption) => caption.marks.map((mark) => mark.colour)));
  useLayoutEffect(() => {
    if (area.current) showFirstMark(area.current);
  }, [captions]);
  return (
    <section
      class="captions"
      ref={area}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: long captions scroll, also by keyboard
      tabIndex={0}
      aria-label={`${captions.length > 1 ? "Captions" : "Caption"}${of}`}
    >
      {captions.length > 1 ? (
        <ul>
          {captions.map((caption) => (
            <li key={caption.number}>
              <CaptionText caption={caption} numbered={colours.size > 1} />
            </li>
          ))}
        </ul>
      ) : (
        captions.map((caption) => (
          <CaptionText key={caption.number} caption={caption} numbered={false} />
        ))
      )}
    </section>
  );
}

interface CaptionTextProps {
  readonly caption: Caption;
  readonly numbered: boolean;
}

function CaptionText({ caption, numbered }: CaptionTextProps): JSX.Element {
  return (
    <p class="caption" dir="auto">
      {runsOf(caption).map((run) =>
        run.mark ? <Marked text={run.text} mark={run.mark} numbered={numbered} /> : run.text,
      )}
    </p>
  );
}

interface MarkedProps {
  readonly text: string;
  readonly mark: Mark;
  readonly numbered: boolean;
}

function Marked({ text, mark, numbered }: MarkedProps): JSX.Element {
  return (
    // Around the mark, not inside it: a line break before it would leave a sliver of its colour.
    <bdi>
      <mark class={`mark mark-${markLook(mark.colour)}`}>
        {text}
        {numbered && (
          <span class="mark-number">
            <span class="unseen"> (phrase </span>
            {mark.colour}
            <span class="unseen">)</span>
          </span>
        )}
      </mark>
    </bdi>
  );
}

function showFirstMark(area: HTMLElement): void {
  area.scrollTop = 0;
  const mark = area.querySelector("mark");
  if (!mark) return;
  const below = mark.getBoundingClientRect().bottom - area.getBoundingClientRect().bottom;
  // Scroll only the captions, never the page, so that the mark is in the middle.
  if (below > 0) area.scrollTop = below + area.clientHeight / 2;
}
