import type { ComponentChildren, JSX } from "preact";
import type { Prose as Text } from "../protocol";

/** Text whose words between pairs of ** are bold. Nothing else is markup. */
export function Prose({ text }: { readonly text: Text }): JSX.Element {
  return (
    <>{proseParts(text).map((part) => (part.bold ? <strong>{part.text}</strong> : part.text))}</>
  );
}

export interface ProsePart {
  readonly text: string;
  readonly bold: boolean;
}

export function proseParts(text: Text): readonly ProsePart[] {
  const pieces = text.split("**");
  // A pair of stars without a partner is shown as it is.
  const lone = pieces.length % 2 === 0 ? `**${pieces.pop() ?? ""}` : "";
  const parts = pieces.map((piece, index) => ({ text: piece, bold: index % 2 === 1 }));
  return [...parts, { text: lone, bold: false }].filter((part) => part.text !== "");
}

/** A guide's question with the phrase inserted. */
export function questionParts(question: string, phrase: string): readonly ComponentChildren[] {
  return question
    .split("{phrase}")
    .flatMap((piece, index) =>
      index === 0 ? [piece] : [<bdi class="phrase">{phrase}</bdi>, piece],
    );
}
