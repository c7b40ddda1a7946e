import type { JSX } from "preact";

/** A key on its button. Screen readers get it by `aria-keyshortcuts`. */
export function Key({ name }: { readonly name: string }): JSX.Element {
  return (
    <kbd>
      <span aria-hidden="true">{name}</span>
    </kbd>
  );
}
