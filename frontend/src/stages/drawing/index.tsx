import type { JSX } from "preact";
import { BoxEditor } from "../../editor/BoxEditor";
import type { Rect, Way } from "../../protocol";
import { Key } from "../../shell/Key";
import { type Choice, labelIn, photoLabel, type StageProps, type StageView } from "../stage";

const choices: readonly Choice[] = [{ answer: "none", label: "No further box needed", key: "n" }];

const WAYS: readonly { readonly way: Way; readonly label: string }[] = [
  { way: "drag", label: "Drag" },
  { way: "extreme", label: "Four points" },
];

/** A box is adjusted in many small steps: wait for the last of them. */
const SETTLED_AFTER = 500;

/** The box as it is on the screen. */
function boxOf({ answer, proposal, locked }: StageProps): Rect | null {
  return locked || !proposal ? answer.rect : proposal.rect;
}

function Editor(props: StageProps): JSX.Element {
  const { item, answer, feedback, locked, test, way, onChange, onPropose, onPhoto } = props;
  const draw = (next: Rect | null, how: Way | ""): void => {
    if (test) onPropose({ rect: next, way: how });
    else onChange({ answer: next ? "box" : "", rect: next, way: next ? how : "" }, SETTLED_AFTER);
  };
  return (
    <BoxEditor
      photo={item.photo}
      boxes={item.boxes}
      candidate={item.candidate}
      expected={feedback?.expectedRects ?? []}
      onState={onPhoto}
      label={photoLabel(item)}
      value={boxOf(props)}
      way={way}
      valueWay={answer.way}
      onChange={draw}
      disabled={locked}
    />
  );
}

function check({ proposal, locked, test, onChange }: StageProps): boolean {
  if (!test || locked || !proposal?.rect) return false;
  onChange({ answer: "box", ...proposal });
  return true;
}

function Tools(props: StageProps): JSX.Element | null {
  const { locked, ways, way, answer, onWay } = props;
  const rect = boxOf(props);
  if (locked) return null;
  return (
    <div class="tools">
      {ways.length > 1 && (
        <fieldset class="switch">
          <legend class="unseen">How to draw</legend>
          {WAYS.filter((each) => ways.includes(each.way)).map((each) => (
            <label key={each.way}>
              <input
                type="radio"
                name="way"
                checked={each.way === way}
                onChange={() => onWay(each.way)}
              />
              <span>{each.label}</span>
            </label>
          ))}
        </fieldset>
      )}
      <p class="hint" aria-live="polite">
        {hintOf(way, rect, answer.answer)}
      </p>
    </div>
  );
}

function Check(props: StageProps): JSX.Element | null {
  if (!props.test || props.locked) return null;
  return (
    <button
      type="button"
      class="button strong"
      disabled={!boxOf(props)}
      onClick={() => check(props)}
      aria-keyshortcuts="c"
    >
      Check this box <Key name="C" />
    </button>
  );
}

function hintOf(way: Way, rect: Rect | null, answer: string): string {
  if (answer === "none") return "You said that no further box is needed. Draw one to change that.";
  if (rect) return "Adjust the box until it is tight: drag its edges, or use the arrow keys.";
  if (way === "drag") return "Drag from corner to corner round one thing that the phrase names.";
  return "Click the topmost, leftmost, bottommost and rightmost point of one thing that the phrase names.";
}

/** Box Drawing: one new box round one thing, or none. */
export const drawing: StageView = {
  choices,
  goesOn: (answer) => answer === "none",
  answerLabel: (answer) => (answer === "box" ? "Draw a box" : labelIn(choices, answer)),
  Picture: Editor,
  Tools,
  Extra: Check,
  keys: [
    { key: "C", does: "Check the box (in a test)" },
    { key: "Arrows", does: "Move the box or its edge by a pixel" },
  ],
  onKey: (key, props) => key === "c" && check(props),
};
