import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { SaveState } from "../saving";
import { type Entry, isAnswered } from "../sitting";

const SAVE_TEXT: Readonly<Record<SaveState, string>> = {
  saved: "Saved",
  saving: "Saving…",
  retrying: "Not saved yet, retrying…",
  offline: "Not saved yet: no connection. Keep this page open.",
};

interface HeaderProps {
  readonly title: string;
  readonly test: boolean;
  readonly entries: readonly Entry[];
  readonly position: number;
  readonly save: SaveState;
  readonly deadline: number;
  onGo(position: number): void;
}

export function Header(props: HeaderProps): JSX.Element {
  const { title, test, entries, position, save, deadline } = props;
  return (
    <header class="top">
      <h1>
        {title}
        {test && <span class="badge">Test</span>}
      </h1>
      <p class="count" aria-live="polite">
        {position + 1} of {entries.length}
      </p>
      <Steps entries={entries} position={position} onGo={props.onGo} />
      <div class="state">
        <TimeLeft deadline={deadline} />
        <p class={`save ${save}`} role="status">
          <span class="save-dot" aria-hidden="true" />
          {SAVE_TEXT[save]}
        </p>
      </div>
    </header>
  );
}

type StepsProps = Pick<HeaderProps, "entries" | "position" | "onGo">;

function Steps({ entries, position, onGo }: StepsProps): JSX.Element {
  const list = useRef<HTMLOListElement>(null);
  useEffect(() => {
    const step = list.current?.children[position];
    // Sideways and only within the row: the page stays where it is.
    if (list.current && step instanceof HTMLElement) {
      list.current.scrollLeft = step.offsetLeft - list.current.clientWidth / 2;
    }
  }, [position]);
  return (
    <nav class="steps" aria-label="Questions">
      <ol ref={list}>
        {entries.map((entry, index) => (
          <li key={index}>
            <button
              type="button"
              class={stepClass(entry)}
              aria-current={index === position ? "step" : undefined}
              aria-label={`Question ${index + 1}, ${stepText(entry)}`}
              onClick={() => onGo(index)}
            />
          </li>
        ))}
      </ol>
    </nav>
  );
}

function stepClass(entry: Entry): string {
  if (entry.feedback?.right === true) return "step answered right";
  if (entry.feedback?.right === false) return "step answered wrong";
  return isAnswered(entry) ? "step answered" : "step";
}

function stepText(entry: Entry): string {
  if (entry.feedback?.right === true) return "right";
  if (entry.feedback?.right === false) return "not right";
  return isAnswered(entry) ? "answered" : "not answered yet";
}

const SHOWN_FROM = 10 * 60_000;

function TimeLeft({ deadline }: { readonly deadline: number }): JSX.Element | null {
  const [now, setNow] = useState(Date.now);
  const left = deadline - now;
  useEffect(() => {
    if (!Number.isFinite(deadline)) return;
    const rest = deadline - Date.now();
    // The time is shown in the last ten minutes, with seconds in the last two.
    const wait = rest > SHOWN_FROM ? rest - SHOWN_FROM : 1000;
    const timer = setTimeout(() => setNow(Date.now()), Math.min(wait, 2 ** 31 - 1));
    return () => clearTimeout(timer);
  }, [deadline, now]);
  if (left > SHOWN_FROM || !Number.isFinite(deadline)) return null;
  return (
    <p class={left < 120_000 ? "time soon" : "time"} role="timer">
      {timeText(Math.max(0, left))}
    </p>
  );
}

export function timeText(milliseconds: number): string {
  const seconds = Math.ceil(milliseconds / 1000);
  if (seconds >= 120) return `${Math.floor(seconds / 60)} min left`;
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")} left`;
}
