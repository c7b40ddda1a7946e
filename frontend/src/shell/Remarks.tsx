import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { textOf } from "../captions/spacing";
import type { Answer, Caption, Item } from "../protocol";

const LONGEST = 2000;
/** Typing is sent when it pauses. */
const TYPED_AFTER = 800;

interface RemarksProps {
  readonly item: Item;
  readonly answer: Answer;
  readonly locked: boolean;
  onChange(change: Partial<Answer>, delay?: number): void;
}

/** A comment, and quick flags for what is wrong with the question itself. */
export function Remarks({ item, answer, locked, onChange }: RemarksProps): JSX.Element {
  const phrases = item.captions.flatMap((caption) =>
    caption.marks
      // Phrases in a test are not mentions of the campaign.
      .filter((mark) => mark.mention > 0)
      .map((mark) => ({
        mention: mark.mention,
        text: textOf(caption.tokens.slice(mark.start, mark.end)),
      })),
  );
  // Only the initial state: deleting a comment must not close the field.
  const [said] = useState(
    answer.comment !== "" || answer.cutWrongly.length + answer.unrelated.length > 0,
  );
  return (
    <details class="remarks" open={said}>
      <summary>Comment or report a problem</summary>
      <fieldset disabled={locked}>
        <legend class="unseen">What is wrong with this question</legend>
        {phrases.map(({ mention, text }) => (
          <Flag
            key={mention}
            label="The wrong words are marked"
            detail={phrases.length > 1 ? text : ""}
            checked={answer.cutWrongly.includes(mention)}
            onToggle={() => onChange({ cutWrongly: toggled(answer.cutWrongly, mention) }, 300)}
          />
        ))}
        {item.captions.map((caption) => (
          <Flag
            key={caption.number}
            label="This caption is not about the photo"
            detail={item.captions.length > 1 ? startOf(caption) : ""}
            checked={answer.unrelated.includes(caption.number)}
            onToggle={() => onChange({ unrelated: toggled(answer.unrelated, caption.number) }, 300)}
          />
        ))}
        <label class="comment">
          <span>Comment (optional)</span>
          <textarea
            rows={2}
            maxLength={LONGEST}
            value={answer.comment}
            onInput={(event) =>
              onChange({ comment: event.currentTarget.value.slice(0, LONGEST) }, TYPED_AFTER)
            }
          />
        </label>
      </fieldset>
    </details>
  );
}

function toggled(numbers: readonly number[], number: number): readonly number[] {
  return numbers.includes(number)
    ? numbers.filter((each) => each !== number)
    : [...numbers, number].sort((one, other) => one - other);
}

function startOf(caption: Caption): string {
  const text = textOf(caption.tokens.slice(0, 8));
  return caption.tokens.length > 8 ? `${text} …` : text;
}

interface FlagProps {
  readonly label: string;
  readonly detail: string;
  readonly checked: boolean;
  onToggle(): void;
}

function Flag({ label, detail, checked, onToggle }: FlagProps): JSX.Element {
  return (
    <label class="flag">
      <input type="checkbox" checked={checked} onChange={onToggle} />
      <span>
        {label}
        {detail && (
          <>
            : <bdi class="phrase">{detail}</bdi>
          </>
        )}
      </span>
    </label>
  );
}
