import type { ComponentChildren, JSX } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { Captions } from "../captions/Captions";
import { questionParts } from "../captions/prose";
import type { Guide, Stage, Standing } from "../protocol";
import type { StageProps, StageView } from "../stages/stage";
import { Answers } from "./Answers";
import { FeedbackPanel } from "./FeedbackPanel";
import { Help } from "./Help";
import { Remarks } from "./Remarks";

interface QuestionProps extends StageProps {
  readonly stage: Stage;
  readonly view: StageView;
  readonly guide: Guide;
  readonly standing?: Standing | null;
  /** Whether a test does not show yet which answers are right. */
  readonly withheld?: boolean;
  /** The photo cannot be shown, so the question cannot be answered. */
  readonly blind: boolean;
  /** Why the question cannot be answered now. */
  readonly note?: ComponentChildren;
  onAnswer(answer: string): void;
  /** The row below the answers. */
  readonly children?: ComponentChildren;
}

/** One question: the photo, its captions, what is asked, the answers. */
export function Question(props: QuestionProps): JSX.Element {
  const { stage, view, guide, item, answer, feedback, blind, note, children } = props;
  const locked = props.locked || blind;
  const inner: StageProps = { ...props, locked };
  const { Picture, Tools, Extra } = view;
  const reading = useRef<HTMLDivElement>(null);
  // Show every question from its top, however far down the last one was scrolled.
  useLayoutEffect(() => {
    window.scrollTo(0, 0);
    if (reading.current) reading.current.scrollTop = 0;
  }, [item.number]);
  return (
    <main class="question">
      <div class="picture">
        <Picture key={item.number} {...inner} />
      </div>
      <div class="side">
        <div class="reading" ref={reading}>
          {note}
          {Tools && <Tools {...inner} />}
          <Captions key={item.number} captions={item.captions} />
          <Help stage={stage} guide={guide} view={view} standing={props.standing ?? null} />
          <Remarks
            key={`remarks ${item.number}`}
            item={item}
            answer={answer}
            locked={locked}
            onChange={props.onChange}
          />
        </div>
        <div class="bar">
          <h2 class="asked" dir="auto">
            {questionParts(guide.question, item.phrase)}
          </h2>
          <Answers view={view} chosen={answer.answer} locked={locked} onAnswer={props.onAnswer} />
          {Extra && <Extra {...inner} />}
          <FeedbackPanel
            feedback={feedback}
            view={view}
            withheld={props.withheld ?? false}
            checking={props.test && answer.answer !== "" && feedback === null}
          />
          {children}
        </div>
      </div>
    </main>
  );
}
