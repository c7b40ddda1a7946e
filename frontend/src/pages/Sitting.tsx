import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Controller } from "../controller";
import { handIn } from "../handIn";
import type { Page } from "../protocol";
import { Asking } from "../shell/Asking";
import { Consent } from "./Consent";
import { Finished } from "./Finished";
import { Message } from "./Message";
import { EmptyPage, ProblemPage } from "./Problem";

interface SittingProps {
  readonly page: Page;
  readonly controller: Controller;
}

/** A sitting, work or test, in whatever phase it is. */
export function Sitting({ page, controller }: SittingProps): JSX.Element {
  const { phase, notice, attempt, standing } = useSnapshot(controller);
  const hand = (): void => {
    if (phase.kind === "finished") handIn(page, phase.fields);
  };
  // Work just finished is submitted to the marketplace automatically; a score is shown first.
  const going = phase.kind === "finished" && phase.when === "now" && phase.score === null;
  useEffect(() => {
    if (going) hand();
  }, [going]);
  switch (phase.kind) {
    case "loading":
      return (
        <Message title="Loading your questions…" busy>
          {phase.failures > 0 && (
            <p>The server cannot be reached. Retrying: you can leave this page open.</p>
          )}
        </Message>
      );
    case "consent":
      return page.consent ? (
        <Consent
          text={page.consent}
          notice={notice}
          onAgree={() => controller.agree(page.consent?.version ?? 0)}
        />
      ) : (
        <Message title="Loading your questions…" busy />
      );
    case "problem":
      return <ProblemPage problem={phase.problem} />;
    case "empty":
      return <EmptyPage why={phase.why} standing={standing} />;
    case "finished":
      return (
        <Finished
          key={attempt}
          score={phase.score}
          standing={standing}
          when={phase.when}
          going={going}
          onHandIn={hand}
        />
      );
    case "asking":
      return <Asking page={page} controller={controller} />;
  }
}

function useSnapshot(controller: Controller): Controller["snapshot"] {
  const [snapshot, setSnapshot] = useState(controller.snapshot);
  useEffect(() => controller.subscribe(() => setSnapshot(controller.snapshot)), [controller]);
  useEffect(() => watchPage(controller), [controller]);
  return snapshot;
}

/** Follow the page's visibility and the browser's connection. */
function watchPage(controller: Controller): () => void {
  const seen = (): void => controller.look(!document.hidden);
  const left = (): void => controller.look(false);
  const back = (event: PageTransitionEvent): void => {
    // Restored from the back/forward cache: the sitting may have changed meanwhile.
    const agreed = controller.snapshot.phase.kind !== "consent";
    if (event.persisted && agreed) void controller.load();
  };
  const online = (): void => controller.retryNow();
  document.addEventListener("visibilitychange", seen);
  window.addEventListener("pagehide", left);
  window.addEventListener("pageshow", back);
  window.addEventListener("online", online);
  if (controller.snapshot.phase.kind === "loading") void controller.load();
  return () => {
    document.removeEventListener("visibilitychange", seen);
    window.removeEventListener("pagehide", left);
    window.removeEventListener("pageshow", back);
    window.removeEventListener("online", online);
  };
}
