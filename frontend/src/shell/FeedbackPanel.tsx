import type { JSX } from "preact";
import { Prose } from "../captions/prose";
import type { Feedback } from "../protocol";
import type { StageView } from "../stages/stage";

const WITHHELD =
  "Your answer is saved. The marketplace will show you whether you have passed the test.";

interface FeedbackPanelProps {
  readonly feedback: Feedback | null;
  readonly view: StageView;
  readonly checking: boolean;
  readonly withheld?: boolean;
}

/** The feedback on an answer in a test, or an example's answer; and why it is right. */
export function FeedbackPanel(props: FeedbackPanelProps): JSX.Element {
  const { feedback, view, checking, withheld } = props;
  return (
    <div class="feedback-place" aria-live="polite">
      {checking && <p class="hint">{withheld ? WITHHELD : "Checking your answer…"}</p>}
      {feedback && (
        <div class={`feedback ${toneOf(feedback)}`}>
          <p class="feedback-title">{titleOf(feedback)}</p>
          {feedback.right === false && (
            <p>
              Expected answer: <strong>{view.answerLabel(feedback.expected)}</strong>
              {feedback.expectedRects.length > 0 && " (the dashed green box)"}
            </p>
          )}
          <p dir="auto">
            <Prose text={feedback.why} />
          </p>
        </div>
      )}
    </div>
  );
}

function toneOf({ right }: Feedback): string {
  return right === null ? "example" : right ? "right" : "wrong";
}

function titleOf({ right }: Feedback): string {
  return right === null ? "Why" : right ? "✓ Right" : "✗ Not right";
}
