import type { JSX } from "preact";
import type { Reason } from "../../protocol";
import { Key } from "../../shell/Key";
import { Picture } from "../Picture";
import { type Choice, labelIn, type StageProps, type StageView } from "../stage";

const choices: readonly Choice[] = [
  { answer: "good", label: "Good", key: "g" },
  { answer: "bad", label: "Bad", key: "b" },
];

const REASONS: readonly {
  readonly reason: Reason;
  readonly label: string;
  readonly key: string;
}[] = [
  { reason: "not_the_thing", label: "Not what the phrase names", key: "1" },
  { reason: "not_tight", label: "Not tight, or cuts parts off", key: "2" },
  { reason: "several_things", label: "Several things in one box", key: "3" },
  { reason: "already_covered", label: "A red box already covers it", key: "4" },
];

function asksWhy({ answer, locked, test }: StageProps): boolean {
  return answer.answer === "bad" && !locked && !test;
}

function toggle({ answer, onChange }: StageProps, reason: Reason): void {
  const had = answer.reasons.includes(reason);
  // Sorted, so that the same reasons always make the same answer.
  const reasons = REASONS.map((each) => each.reason)
    .filter((each) => (each === reason ? !had : answer.reasons.includes(each)))
    .sort();
  onChange({ reasons }, 300);
}

function Reasons(props: StageProps): JSX.Element | null {
  if (!asksWhy(props)) return null;
  return (
    <fieldset class="reasons">
      <legend>Why is it bad? (optional)</legend>
      {REASONS.map(({ reason, label, key }) => (
        <label class="chip" key={reason}>
          <input
            type="checkbox"
            checked={props.answer.reasons.includes(reason)}
            onChange={() => toggle(props, reason)}
          />
          <span>{label}</span>
          <Key name={key} />
        </label>
      ))}
    </fieldset>
  );
}

/** Box Quality: is the blue box good? */
export const quality: StageView = {
  choices,
  goesOn: (answer) => answer === "good",
  answerLabel: (answer) => labelIn(choices, answer),
  Picture,
  Extra: Reasons,
  keys: [{ key: "1 – 4", does: "Why the box is bad" }],
  onKey: (key, props) => {
    const reason = REASONS.find((each) => each.key === key)?.reason;
    if (!reason || !asksWhy(props)) return false;
    toggle(props, reason);
    return true;
  },
};
