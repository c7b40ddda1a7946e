import type { ComponentType } from "preact";
import type { Answer, Feedback, Item, Rect, Way } from "../protocol";

/** A box drawn in a test but not submitted yet: the first answer in a test is final. */
export interface Proposal {
  readonly rect: Rect | null;
  readonly way: Way | "";
}

/** One of the answers, and the key that gives it. */
export interface Choice {
  readonly answer: string;
  readonly label: string;
  readonly key: string;
}

export interface StageProps {
  readonly item: Item;
  readonly answer: Answer;
  readonly feedback: Feedback | null;
  /** Nothing can be changed: preview, example, or an answer given in a test. */
  readonly locked: boolean;
  /** A test: the answer is final as soon as it is given. */
  readonly test: boolean;
  readonly ways: readonly Way[];
  readonly way: Way;
  onWay(way: Way): void;
  readonly proposal: Proposal | null;
  onPropose(proposal: Proposal): void;
  /** `delay`: how long to wait for a newer change before sending this one. */
  onChange(change: Partial<Answer>, delay?: number): void;
  onPhoto(state: "loading" | "shown" | "missing"): void;
  /** Get a new address for the photo: the old one may have expired. */
  onRetryPhoto?: (() => void) | undefined;
}

/** What is special about one stage; the shell does the rest. */
export interface StageView {
  readonly choices: readonly Choice[];
  /** Whether this answer is complete, so that the page may go on to the next question. */
  goesOn(answer: string): boolean;
  /** The name of an answer that no button gives. */
  answerLabel(answer: string): string;
  readonly Picture: ComponentType<StageProps>;
  /** Shown beside the photo, above the captions. */
  readonly Tools?: ComponentType<StageProps>;
  /** Shown right after the answers. */
  readonly Extra?: ComponentType<StageProps>;
  /** Keys besides those of the choices, for the list of keys. */
  readonly keys?: readonly { readonly key: string; readonly does: string }[];
  /** Handle one of `keys`: returns whether the key was one. */
  onKey?(key: string, props: StageProps): boolean;
}

export function labelIn(choices: readonly Choice[], answer: string): string {
  return choices.find((choice) => choice.answer === answer)?.label ?? answer;
}

/** A description of the photo for screen readers. */
export function photoLabel(item: Item): string {
  const red = item.boxes.length;
  const boxes = [
    ...(item.candidate ? ["a blue box"] : []),
    ...(red === 1 ? ["a red box"] : red > 1 ? [`${red} red boxes`] : []),
  ];
  return boxes.length > 0 ? `Photo with ${boxes.join(" and ")}` : "Photo";
}
