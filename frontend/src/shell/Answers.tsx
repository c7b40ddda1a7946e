import type { JSX } from "preact";
import { keyLabel } from "../keys";
import type { StageView } from "../stages/stage";
import { Key } from "./Key";

interface AnswersProps {
  readonly view: StageView;
  readonly chosen: string;
  readonly locked: boolean;
  onAnswer(answer: string): void;
}

/** The answers as buttons, each with its key. */
export function Answers({ view, chosen, locked, onAnswer }: AnswersProps): JSX.Element {
  const many = view.choices.length > 2;
  return (
    <div class={many ? "answers many" : "answers"}>
      {view.choices.map(({ answer, label, key }) => (
        <button
          key={answer}
          type="button"
          class="answer"
          aria-pressed={chosen === answer}
          aria-keyshortcuts={key}
          disabled={locked}
          onClick={() => onAnswer(answer)}
        >
          <span>{label}</span>
          <Key name={keyLabel(key)} />
        </button>
      ))}
    </div>
  );
}
