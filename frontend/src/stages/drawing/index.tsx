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
  const { item, answer, feedback, locked, test, way, proposal, onChange, onPropose, onPhoto } =
    props;
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
      onRetry={props.onRetryPhoto}
      label={photoLabel(item)}
      value={boxOf(props)}
      way={way}
      valueWay={proposal?.way ?? answer.way}
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
  if (locked || (ways.length < 2 && answer.answer !== "none")) return null;
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
      {answer.answer === "none" && (
        <p class="hint">
          You answered that no further box is needed. Draw one to change your answer.
        </p>
      )}
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

/** Box Drawing: one new box around one thing, or none. */
export const drawing: StageView = {
  choices,
  goesOn: (answer) => answer === "none",
  answerLabel: (answer) => (answer === "box" ? "Draw a box" : labelIn(choices, answer)),
  Picture: Editor,
  Tools,
  Extra: Check,
  keys: [
    { key: "C", does: "Check the box (in a test)" },
    { key: "Arrows", does: "Move the cross or the box by one pixel, with Shift by ten" },
    { key: "Space", does: "Mark a point; once there is a box, select it or one of its corners" },
    { key: "Del", does: "Remove the box" },
    { key: "H", does: "Hide the other boxes while you hold the key" },
    { key: "Ctrl Z", does: "Undo" },
    { key: "+ − 0", does: "Zoom in, zoom out, whole photo" },
  ],
  onKey: (key, props) => key === "c" && check(props),
};
