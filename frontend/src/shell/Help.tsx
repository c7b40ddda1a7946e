import type { JSX } from "preact";
import { useRef, useState } from "preact/hooks";
import { Prose } from "../captions/prose";
import { keyLabel } from "../keys";
import type { Guide, Stage, Standing } from "../protocol";
import type { StageView } from "../stages/stage";
import { choices } from "../store";
import { Key } from "./Key";
import { StandingPanel } from "./Standing";

const WIDE = "(min-width: 60rem)";

interface HelpProps {
  readonly stage: Stage;
  readonly guide: Guide;
  readonly view: StageView;
  readonly standing?: Standing | null;
}

/** Help beside the question: guidelines, worked examples, keys, the worker's standing. */
export function Help({ stage, guide, view, standing = null }: HelpProps): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  return (
    <section class="help" aria-label="Help">
      <Guidelines stage={stage} guide={guide} />
      <StandingPanel standing={standing} />
      <p class="links">
        {guide.examplesUrl && (
          <a href={guide.examplesUrl} target="_blank" rel="noopener">
            <span class="unseen">Worked </span>Examples <span aria-hidden="true">↗</span>
            <span class="unseen"> (opens a new tab)</span>
          </a>
        )}
        <button
          type="button"
          class="link"
          id="keys-button"
          onClick={() => dialog.current?.showModal()}
        >
          Keyboard <Key name="?" />
        </button>
      </p>
      <dialog class="keys" ref={dialog} aria-labelledby="keys-title">
        <h2 id="keys-title">Keyboard shortcuts</h2>
        <table>
          <tbody>
            {keysOf(view).map(({ key, does }) => (
              <tr key={key}>
                <th scope="row">
                  <kbd>{key}</kbd>
                </th>
                <td>{does}</td>
              </tr>
            ))}
          </tbody>
        </table>
        <form method="dialog">
          <button type="submit" class="button strong">
            Close
          </button>
        </form>
      </dialog>
    </section>
  );
}

function keysOf(view: StageView): readonly { readonly key: string; readonly does: string }[] {
  return [
    ...view.choices.map((choice) => ({ key: keyLabel(choice.key), does: choice.label })),
    ...(view.keys ?? []),
    { key: "P", does: "Previous question" },
    { key: "Enter", does: "Next question" },
    { key: "?", does: "Show this list" },
  ];
}

function Guidelines({ stage, guide }: Pick<HelpProps, "stage" | "guide">): JSX.Element {
  const name = `guidelines.${stage}`;
  const [first] = useState(() => firstOpen(name));
  const open = useRef(first);
  const toggle = (now: boolean): void => {
    // The browser also fires this event for the initial state.
    if (now === open.current) return;
    open.current = now;
    choices.set(name, now ? "open" : "closed");
  };
  return (
    <details class="guidelines" open={first} onToggle={(event) => toggle(event.currentTarget.open)}>
      <summary>Guidelines</summary>
      <ul>
        {guide.guidelines.map((line) => (
          <li key={line}>
            <Prose text={line} />
          </li>
        ))}
      </ul>
    </details>
  );
}

/** Open the first time, and on wide screens; otherwise as the worker left it. */
function firstOpen(name: string): boolean {
  const kept = choices.get(name);
  if (kept === null) {
    choices.set(name, "seen");
    return true;
  }
  return kept === "seen" ? window.matchMedia(WIDE).matches : kept === "open";
}
