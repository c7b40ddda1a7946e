// The phases of a sitting, and everything its page shows.

import type { RequestProblem } from "./api";
import type { Score, Sitting, Standing, Way } from "./protocol";
import type { SaveState } from "./saving";
import type { State } from "./sitting";

export type Fields = Readonly<Record<string, string>>;

export type Phase =
  | { readonly kind: "loading"; readonly failures: number }
  | { readonly kind: "consent" }
  | { readonly kind: "problem"; readonly problem: RequestProblem }
  | { readonly kind: "empty"; readonly why: Sitting["empty"] }
  | { readonly kind: "asking" }
  | {
      readonly kind: "finished";
      readonly fields: Fields;
      readonly score: Score | null;
      /** Just now; before this load; or with other answers than those last given here. */
      readonly when: "now" | "before" | "otherwise";
    };

export interface Snapshot {
  readonly phase: Phase;
  readonly sitting: State | null;
  readonly standing: Standing | null;
  /** Whether a test does not show yet which answers are right. */
  readonly withheld: boolean;
  readonly ways: readonly Way[];
  readonly way: Way;
  readonly save: SaveState;
  /** When the time runs out, by this browser's clock. */
  readonly deadline: number;
  readonly finishing: "no" | "sending" | "retrying";
  /** A message for the worker; empty if there is none. */
  readonly notice: string;
  /** Grows with every load, so that the screen is built afresh. */
  readonly attempt: number;
}
