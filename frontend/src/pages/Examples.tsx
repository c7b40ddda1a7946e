import type { JSX } from "preact";
import { Captions } from "../captions/Captions";
import { Prose, questionParts } from "../captions/prose";
import type { Guide, Item, Page } from "../protocol";
import { FeedbackPanel } from "../shell/FeedbackPanel";
import { STAGES } from "../stages";
import { Picture } from "../stages/Picture";
import type { StageView } from "../stages/stage";
import { readOnly } from "./Preview";

/** Worked examples: questions with the expected answer and why. */
export function Examples({ page }: { readonly page: Page }): JSX.Element {
  const { guide, items } = page;
  return (
    <main class="examples">
      <header>
        <p class="eyebrow">Worked examples</p>
        <h1>{guide.title}</h1>
        <ul class="examples-guide">
          {guide.guidelines.map((line) => (
            <li key={line}>
              <Prose text={line} />
            </li>
          ))}
        </ul>
        {items.length > 1 && (
          <nav aria-label="Examples">
            {items.map((item, index) => (
              <a key={item.number} href={`#example-${index + 1}`}>
                {index + 1}
              </a>
            ))}
          </nav>
        )}
      </header>
      {items.length === 0 && <p>There are no examples yet.</p>}
      {items.map((item, index) => (
        <Example
          key={item.number}
          item={item}
          place={index + 1}
          guide={guide}
          view={STAGES[page.stage]}
        />
      ))}
    </main>
  );
}

interface ExampleProps {
  readonly item: Item;
  readonly place: number;
  readonly guide: Guide;
  readonly view: StageView;
}

function Example({ item, place, guide, view }: ExampleProps): JSX.Element {
  const expected = item.feedback?.expected ?? "";
  return (
    <article
      class="example card"
      id={`example-${place}`}
      aria-labelledby={`example-title-${place}`}
    >
      <p class="eyebrow">Example {place}</p>
      <h2 id={`example-title-${place}`} dir="auto">
        {questionParts(guide.question, item.phrase)}
      </h2>
      <div class="example-parts">
        <div class="picture">
          <Picture {...readOnly(item)} />
        </div>
        <div>
          <Captions captions={item.captions} of={` of example ${place}`} />
          <p class="expected-answer">
            <span class="eyebrow">Expected answer</span>
            <strong>{view.answerLabel(expected)}</strong>
            {item.feedback && item.feedback.expectedRects.length > 0 && (
              <span class="hint">Shown as a dashed green box on the photo.</span>
            )}
          </p>
          <FeedbackPanel feedback={item.feedback} view={view} checking={false} />
        </div>
      </div>
    </article>
  );
}
