import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Score, Standing } from "../protocol";
import { StandingCard } from "../shell/Standing";
import { Message } from "./Message";

interface FinishedProps {
  readonly score: Score | null;
  readonly standing: Standing | null;
  readonly when: "now" | "before" | "otherwise";
  /** Whether the form goes out by itself: work that was finished just now. */
  readonly going: boolean;
  onHandIn(): void;
}

/** All answers are with the server. The marketplace may not know it yet. */
export function Finished(props: FinishedProps): JSX.Element {
  const { score, standing, when, going, onHandIn } = props;
  const [sent, setSent] = useState(going);
  return (
    <Message title={score ? scoreTitle(score) : "Your answers are saved"}>
      {score && <ScoreText score={score} />}
      {when === "otherwise" && (
        <p>
          They had been handed in already, in another tab or earlier. Those answers count; what was
          changed afterwards could not be taken.
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
        {sent ? "Handing in…" : score ? "Submit the HIT" : "Send to the marketplace again"}
      </button>
      <StandingCard standing={standing} />
    </Message>
  );
}

function lastStep(sent: boolean, score: Score | null, when: FinishedProps["when"]): string {
  if (sent) return "Handing in the HIT at the marketplace…";
  if (score && when === "now") return "One last step: hand the HIT in at the marketplace.";
  return "If the marketplace does not show this HIT as submitted yet, send it once more.";
}

function scoreTitle(score: Score): string {
  return score.passed ? "You have passed the test" : "You have not passed the test this time";
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
        {percent(share)}; {percent(score.needed)} are needed.
      </p>
    </div>
  );
}
