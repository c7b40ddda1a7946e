import type { ComponentChildren, JSX } from "preact";

interface MessageProps {
  readonly title: string;
  readonly children?: ComponentChildren;
  readonly busy?: boolean;
}

/** A page that says one thing. */
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
      To give the HIT back, use the marketplace’s <strong>Return</strong> button, outside of this
      frame. Returning it does not count against you.
    </p>
  );
}
