import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { Prose } from "../captions/prose";
import type { ConsentText } from "../protocol";
import { HowToReturn, Message } from "./Message";

interface ConsentProps {
  readonly text: ConsentText;
  /** Why agreeing failed; empty if it did not. */
  readonly notice: string;
  onAgree(): Promise<void>;
}

/** Before a worker's first sitting: what the study is, and whether they want to take part. */
export function Consent({ text, notice, onAgree }: ConsentProps): JSX.Element {
  const [said, setSaid] = useState<"" | "yes" | "no">("");
  if (said === "no") {
    return (
      <Message title="That is fine">
        <p>You have not agreed, so nothing was recorded and no questions are shown.</p>
        <HowToReturn />
        <button type="button" class="button" onClick={() => setSaid("")}>
          Read it again
        </button>
      </Message>
    );
  }
  return (
    <Message title={text.title}>
      {text.paragraphs.map((paragraph) => (
        <p key={paragraph}>
          <Prose text={paragraph} />
        </p>
      ))}
      {notice && (
        <p class="notice" role="alert">
          {notice}
        </p>
      )}
      <div class="buttons">
        <button
          type="button"
          class="button strong"
          disabled={said === "yes"}
          onClick={() => {
            setSaid("yes");
            void onAgree().finally(() => setSaid(""));
          }}
        >
          {said === "yes" ? "One moment…" : "I agree, show me the questions"}
        </button>
        <button type="button" class="button" onClick={() => setSaid("no")}>
          I do not agree
        </button>
      </div>
    </Message>
  );
}
