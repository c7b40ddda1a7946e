// Turns tokens back into readable text: where spaces go, and how tokens are written.

import type { Caption, Mark } from "../protocol";

const WRITTEN: Readonly<Record<string, string>> = {
  "``": "“",
  "''": "”",
  "`": "‘",
  "-LRB-": "(",
  "-RRB-": ")",
  "-LSB-": "[",
  "-RSB-": "]",
  "-LCB-": "{",
  "-RCB-": "}",
};

const LEANS_BACK = /^(?:[,.;:!?%)\]}”’]|\.\.\.|…|'|n't|'(?:s|re|ve|ll|d|m))$/i;
const LEANS_FORWARD = /^[([{“‘$]$/;

interface Written {
  readonly text: string;
  readonly back: boolean;
  readonly forward: boolean;
}

/** A stretch of a caption: the words of a mark, or words between marks. */
export interface Run {
  readonly text: string;
  readonly mark: Mark | null;
}

function write(tokens: readonly string[]): readonly Written[] {
  let open = false;
  return tokens.map((token) => {
    // A straight quotation mark opens and closes in turn.
    if (token === '"') {
      open = !open;
      return { text: token, back: !open, forward: open };
    }
    const text = WRITTEN[token.toUpperCase()] ?? token;
    return { text, back: LEANS_BACK.test(text), forward: LEANS_FORWARD.test(text) };
  });
}

/** The caption as runs of text: in order, without overlap, with natural spaces. */
export function runsOf(caption: Pick<Caption, "tokens" | "marks">): readonly Run[] {
  const written = write(caption.tokens);
  const owners = ownersOf(caption);
  const runs: { text: string; mark: Mark | null }[] = [];
  written.forEach((token, index) => {
    const before = written[index - 1];
    const space = before && !before.forward && !token.back ? " " : "";
    const mark = owners[index] ?? null;
    const last = runs.at(-1);
    if (last && last.mark === mark) {
      last.text += space + token.text;
      return;
    }
    // The space between a mark and its neighbour belongs to neither mark.
    if (space && mark && last && !last.mark) last.text += space;
    else if (space && mark && last) runs.push({ text: space, mark: null });
    runs.push({ text: mark ? token.text : space + token.text, mark });
  });
  return runs;
}

function ownersOf({ tokens, marks }: Pick<Caption, "tokens" | "marks">): readonly (Mark | null)[] {
  const owners: (Mark | null)[] = tokens.map(() => null);
  for (const mark of marks) {
    const end = Math.min(mark.end, tokens.length);
    for (let at = Math.max(0, mark.start); at < end; at++) owners[at] ??= mark;
  }
  return owners;
}

/** Tokens as plain text. */
export function textOf(tokens: readonly string[]): string {
  return runsOf({ tokens, marks: [] })
    .map((run) => run.text)
    .join("");
}
