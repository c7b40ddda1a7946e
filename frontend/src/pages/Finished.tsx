import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Score, Standing } from "../protocol";
import { StandingCard } from "../shell/Standing";
import { Message } from "./Message";

interface FinishedProps {
  readonly score: Score | null;
  readonly standing: Standing | null;
  readonly when: "now" | "before" | "otherwise";
  /** Whether the form is submitted automatically: the work was finished just now. */
  readonly going: boolean;
  onHandIn(): void;
}

/** The server has all answers. The marketplace may not know it yet. */
export function Finished(props: FinishedProps): JSX.Element {
  const { score, standing, when, going, onHandIn } = props;
  const [sent, setSent] = useState(going);
  return (
    <Message title={score ? scoreTitle(score) : "Your answers are saved"}>
      {score && <ScoreText score={score} />}
      {when === "otherwise" && (
        <p>
          You had already submitted them, earlier or in another tab. Those answers count; later
          changes were not saved.
        </p>
      )}
      <p role="status">{lastStep(sent, score, when)}</p>
      <button
        type="button"
        class="button strong"
        disabled={sent}
        onClick={() => {
          setSent(true);
          onHandIn();
        }}
      >
        {sent ? "Submitting…" : score ? "Submit the HIT" : "Submit to the marketplace again"}
      </button>
      <StandingCard standing={standing} />
    </Message>
  );
}

function lastStep(sent: boolean, score: Score | null, when: FinishedProps["when"]): string {
  if (sent) return "Submitting the HIT to the marketplace…";
  if (score && when === "now") return "One last step: submit the HIT to the marketplace.";
  return "If the marketplace does not show this HIT as submitted yet, submit it again.";
}

function scoreTitle(score: Score): string {
  return score.passed ? "You passed the test" : "You did not pass the test this time";
}

function percent(share: number): string {
  return `${Math.round(share * 100)}%`;
}

function ScoreText({ score }: { readonly score: Score }): JSX.Element {
  const share = score.asked > 0 ? score.right / score.asked : 0;
  return (
    <div class="score">
      <p class="score-number">
        <strong>{score.right}</strong> of {score.asked} right
      </p>
      <meter min={0} max={1} value={share} aria-label="Share of right answers">
        {percent(share)}
      </meter>
      <p>
        Your score is {percent(share)}. You need {percent(score.needed)} to pass.
      </p>
    </div>
  );
}
