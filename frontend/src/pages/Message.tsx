import type { ComponentChildren, JSX } from "preact";

interface MessageProps {
  readonly title: string;
  readonly children?: ComponentChildren;
  readonly busy?: boolean;
}

/** A page with a single message. */
export function Message({ title, children, busy = false }: MessageProps): JSX.Element {
  return (
    <main class="message" aria-busy={busy}>
      <div class="card" role={busy ? "status" : undefined}>
        {busy && <span class="spinner" aria-hidden="true" />}
        <h1>{title}</h1>
        {children}
      </div>
    </main>
  );
}

/** What to do with a HIT that cannot be worked on. */
export function HowToReturn(): JSX.Element {
  return (
    <p class="aside">
      To return the HIT, use the marketplace’s <strong>Return</strong> button, outside this frame.
      Returning it does not count against you.
    </p>
  );
}
