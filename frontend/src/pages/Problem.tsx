import type { JSX } from "preact";
import type { ProblemKind, RequestProblem } from "../api";
import type { Sitting, Standing } from "../protocol";
import { StandingCard } from "../shell/Standing";
import { HowToReturn, Message } from "./Message";

const TITLES: Readonly<Partial<Record<ProblemKind, string>>> = {
  expired: "Your time for these questions is up",
  bad_token: "This page is no longer valid",
  consent: "The text about the study has changed",
  not_found: "These questions are no longer available",
  not_qualified: "This task is not open to you",
};

/** The sitting cannot continue: why, and what to do. */
export function ProblemPage({ problem }: { readonly problem: RequestProblem }): JSX.Element {
  return (
    <Message title={TITLES[problem.kind] ?? "This did not work"}>
      <p>{problem.message}</p>
      <HowToReturn />
      <button type="button" class="button strong" onClick={() => window.location.reload()}>
        Reload this page
      </button>
    </Message>
  );
}

interface EmptyProps {
  readonly why: Sitting["empty"];
  readonly standing: Standing | null;
}

/** There are no questions for this worker now. */
export function EmptyPage({ why, standing }: EmptyProps): JSX.Element {
  return (
    <Message title="No questions for you right now">
      <p>
        Thank you for your interest.{" "}
        {why === "with_others"
          ? "Other workers are working on the remaining questions. Some may become free again, so please check back later."
          : "Every question that you could answer here has been answered."}
      </p>
      <HowToReturn />
      <StandingCard standing={standing} />
    </Message>
  );
}
