import type { JSX } from "preact";
import type { ProblemKind, RequestProblem } from "../api";
import type { Sitting } from "../protocol";
import { HowToReturn, Message } from "./Message";

const TITLES: Readonly<Partial<Record<ProblemKind, string>>> = {
  expired: "The time for this HIT has run out",
  bad_token: "This page is no longer valid",
  consent: "The text about the study has changed",
  not_found: "These questions are no longer there",
};

interface ProblemPageProps {
  readonly problem: RequestProblem;
  onRetry(): void;
}

/** The sitting cannot go on: why, and what to do. */
export function ProblemPage({ problem, onRetry }: ProblemPageProps): JSX.Element {
  const { kind, message } = problem;
  return (
    <Message title={TITLES[kind] ?? "This did not work"}>
      <p>{message}</p>
      {kind === "expired" && (
        <p>The questions have gone to other workers. Nothing more can be handed in here.</p>
      )}
      {kind === "bad_token" && <p>Open the HIT again from the marketplace’s list of your HITs.</p>}
      {kind === "consent" ? <p>Load this page again to read it.</p> : <HowToReturn />}
      {kind !== "expired" && (
        <button type="button" class="button" onClick={onRetry}>
          Try again
        </button>
      )}
    </Message>
  );
}

/** There is nothing to ask this worker now. */
export function EmptyPage({ why }: { readonly why: Sitting["empty"] }): JSX.Element {
  return (
    <Message title="No questions for you right now">
      <p>
        Thank you for coming by.{" "}
        {why === "with_others"
          ? "Other workers are at work on the questions that are left. Some may come back: you are welcome to look in again later."
          : "All questions that you can answer here have been answered."}
      </p>
      <HowToReturn />
    </Message>
  );
}
