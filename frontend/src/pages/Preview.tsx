import type { JSX } from "preact";
import { Prose } from "../captions/prose";
import type { Item, Page } from "../protocol";
import { Question } from "../shell/Question";
import { BLANK } from "../sitting";
import { STAGES } from "../stages";
import type { StageProps } from "../stages/stage";

function ignore(): void {
  // A preview takes no input.
}

/** The props of an item that is only shown. */
export function readOnly(item: Item): StageProps {
  return {
    item,
    answer: item.answer ?? BLANK,
    feedback: item.feedback,
    locked: true,
    test: false,
    ways: [],
    way: "drag",
    onWay: ignore,
    proposal: null,
    onPropose: ignore,
    onChange: ignore,
    onPhoto: ignore,
  };
}

/** Before the HIT is accepted: an example question, as it will look. */
export function Preview({ page }: { readonly page: Page }): JSX.Element {
  const { guide, stage } = page;
  const item = page.items[0];
  return (
    <div class="task">
      <header>
        <p class="banner">
          <strong>This is a preview.</strong> Accept the HIT to start.
        </p>
        <div class="top">
          <h1>{guide.title}</h1>
        </div>
      </header>
      {item ? (
        <Question
          {...readOnly({ ...item, feedback: null })}
          stage={stage}
          view={STAGES[stage]}
          guide={guide}
          blind={false}
          onAnswer={ignore}
        />
      ) : (
        <main class="message">
          <div class="card">
            <h2>Guidelines</h2>
            <ul>
              {guide.guidelines.map((line) => (
                <li key={line}>
                  <Prose text={line} />
                </li>
              ))}
            </ul>
          </div>
        </main>
      )}
    </div>
  );
}
