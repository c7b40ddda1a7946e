// Messages between page and server; `annotation/hits/wire.py` defines the same in Python.

export type Stage = "links" | "verification" | "requirement" | "drawing" | "quality" | "coverage";

/** xmin, ymin, xmax, ymax in image pixels: counted from 1, both ends included. */
export type Rect = readonly [number, number, number, number];

/** How a box was drawn: dragged from corner to corner, or by its four extreme points. */
export type Way = "drag" | "extreme";

/** Tokens `start` up to but without `end` of a caption; `colour` counts from 1. */
export interface Mark {
  readonly mention: number;
  readonly start: number;
  readonly end: number;
  readonly colour: number;
}

export interface Caption {
  readonly number: number;
  readonly tokens: readonly string[];
  readonly marks: readonly Mark[];
}

/** `url` is empty when the photo is missing. Width and height are the original's, in pixels. */
export interface Photo {
  readonly url: string;
  readonly width: number;
  readonly height: number;
}

/** A worker's answer to one question. `milliseconds` is how long they looked at it. */
export interface Answer {
  readonly answer: string;
  readonly rect: Rect | null;
  readonly way: Way | "";
  readonly milliseconds: number;
  /** Why a box is bad. */
  readonly reasons: readonly Reason[];
  /** Mentions that are cut wrongly, captions that are not about the photo. */
  readonly cutWrongly: readonly number[];
  readonly unrelated: readonly number[];
  readonly comment: string;
}

export type Reason = "not_the_thing" | "not_tight" | "several_things" | "already_covered";

/** The feedback a test or an example gives on an answer. */
export interface Feedback {
  /** Null where nobody has answered: an example. */
  readonly right: boolean | null;
  readonly expected: string;
  /** Boxes that would have been right, for Drawing. */
  readonly expectedRects: readonly Rect[];
  readonly why: string;
}

/** One question as it is shown. `phrase` is what it asks about, in plain words. */
export interface Item {
  readonly number: number;
  readonly photo: Photo;
  readonly captions: readonly Caption[];
  readonly phrase: string;
  /** Boxes that are accepted already: shown in red. */
  readonly boxes: readonly Rect[];
  /** The box that Quality asks about: shown in blue. */
  readonly candidate: Rect | null;
  /** The answer so far. */
  readonly answer: Answer | null;
  readonly feedback: Feedback | null;
}

/** Text that may hold **bold** words and nothing else. */
export type Prose = string;

export interface Guide {
  readonly title: string;
  /** The question; `{phrase}` stands for the item's phrase. */
  readonly question: string;
  readonly guidelines: readonly Prose[];
  readonly examplesUrl: string;
}

export interface ConsentText {
  readonly version: number;
  readonly title: string;
  readonly paragraphs: readonly Prose[];
}

export interface Score {
  readonly right: number;
  readonly asked: number;
  /** The share that is needed, 0 to 1. */
  readonly needed: number;
  readonly passed: boolean;
}

/** Where the worker stands at this stage, in words for them. */
export interface Standing {
  readonly title: string;
  readonly lines: readonly string[];
}

/** The reply to `open`. */
export interface Sitting {
  /** The sitting's id, which drafts carry. 0: there is none. */
  readonly id: number;
  /** The server's clock, in milliseconds. */
  readonly clock: number;
  readonly items: readonly Item[];
  /** The ways of drawing the worker may use; the first is the default. */
  readonly ways: readonly Way[];
  readonly secondsLeft: number;
  readonly finished: boolean;
  /** The fields of the platform's form besides the assignment's id, once it is finished. */
  readonly fields: Readonly<Record<string, string>> | null;
  /** Of a finished test. */
  readonly score: Score | null;
  /** Why there are no items: others are working on the remaining ones, or none are left. */
  readonly empty: "" | "with_others" | "nothing_left";
  /** Null if nothing is known about the worker. */
  readonly standing: Standing | null;
  /** A test that shows what was right only after the marketplace has confirmed the assignment. */
  readonly withheld: boolean;
}

/** The reply to `draft` and `consent`. */
export interface Saved {
  readonly feedback: Feedback | null;
  /** How long the questions stay reserved from now on; null: unchanged. */
  readonly secondsLeft: number | null;
  /** The token to use from now on; empty: unchanged. */
  readonly token: string;
}

/** The reply to `finish`. */
export interface Finished {
  readonly fields: Readonly<Record<string, string>>;
  readonly score: Score | null;
  readonly standing: Standing | null;
}

export interface NumberedAnswer extends Answer {
  readonly number: number;
}

/** The body of every reply that is not 2xx. */
export interface Problem {
  readonly error:
    | "bad_request"
    | "bad_token"
    | "expired"
    | "consent"
    | "not_found"
    | "finished"
    | "answered"
    | "incomplete"
    | "not_qualified"
    | "not_yet";
  readonly message: string;
}

/** The data within the page, as JSON in `<script id="page" type="application/json">`. */
export interface Page {
  readonly mode: "work" | "test" | "preview" | "examples" | "problem";
  readonly stage: Stage;
  readonly guide: Guide;
  /** Address of the endpoints, up to and with the last slash: `…/hits/api/`. */
  readonly api: string;
  /** Sent as `Authorization: Bearer …`; empty in preview and on the examples page. */
  readonly token: string;
  /** Where to submit the finished form, and for which assignment. */
  readonly submitUrl: string;
  readonly assignmentId: string;
  /**
   * Stands for this worker at this assignment, the same after every reload: the browser stores
   * answers under it. Reveals nothing to others. Empty: store nothing.
   */
  readonly sittingKey: string;
  /** The text the worker must agree to first; null if they have. */
  readonly consent: ConsentText | null;
  /** Preview: one example at most. Examples: all, each with its feedback. */
  readonly items: readonly Item[];
  /** What is wrong, where `mode` is "problem". */
  readonly problem: { readonly title: string; readonly text: string } | null;
}
