import type { JSX } from "preact";
import type { Standing } from "../protocol";

interface StandingProps {
  readonly standing: Standing | null;
}

/** The worker's standing, on a message page. */
export function StandingCard({ standing }: StandingProps): JSX.Element | null {
  if (!standing) return null;
  return (
    <section class="standing" aria-labelledby="standing-title">
      <h2 class="standing-title" id="standing-title">
        {standing.title}
      </h2>
      <Lines standing={standing} />
    </section>
  );
}

/** The worker's standing beside the questions, closed until opened. */
export function StandingPanel({ standing }: StandingProps): JSX.Element | null {
  if (!standing) return null;
  return (
    <details class="standing">
      <summary>Your standing</summary>
      <p class="standing-title">{standing.title}</p>
      <Lines standing={standing} />
    </details>
  );
}

function Lines({ standing }: { readonly standing: Standing }): JSX.Element {
  return (
    <ul>
      {standing.lines.map((line) => (
        <li key={line}>{line}</li>
      ))}
    </ul>
  );
}
