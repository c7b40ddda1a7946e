import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Controller } from "../controller";
import { pageKey } from "../keys";
import { HowToReturn } from "../pages/Message";
import type { Page } from "../protocol";
import { BLANK, isAnswered } from "../sitting";
import { STAGES } from "../stages";
import type { Proposal, StageProps } from "../stages/stage";
import { Header } from "./Header";
import { Navigation } from "./Navigation";
import { Question } from "./Question";

interface AskingProps {
  readonly page: Page;
  readonly controller: Controller;
}

/** The questions of a sitting, one at a time. */
export function Asking({ page, controller }: AskingProps): JSX.Element | null {
  const { sitting, standing, withheld, ways, way, save, deadline, finishing, notice, attempt } =
    controller.snapshot;
  const [photo, setPhoto] = useState({ number: 0, state: "loading" });
  const [proposals, setProposals] = useState<Readonly<Record<number, Proposal>>>({});
  const view = STAGES[page.stage];
  const position = sitting?.position ?? 0;
  const item = sitting?.items[position];
  const entry = sitting?.entries[position];
  const test = page.mode === "test";
  const blind = photo.number === item?.number && photo.state === "missing";
  const locked = entry ? controller.isLocked(entry) || blind : true;

  const onAnswer = (answer: string): void => {
    const none = { rect: null, way: "", reasons: [] } as const;
    const kept = answer === entry?.answer.answer ? {} : none;
    if (!locked) controller.answer({ ...kept, answer }, view.goesOn(answer));
  };
  const onNext = (): void => {
    const last = position === (sitting?.items.length ?? 0) - 1;
    const [first] = controller.open;
    if (!last) controller.go(position + 1);
    else if (first !== undefined) controller.go(first);
  };
  const props: StageProps | null = item
    ? {
        item,
        answer: entry?.answer ?? BLANK,
        feedback: entry?.feedback ?? null,
        locked,
        test,
        ways,
        way,
        onWay: (next) => controller.setWay(next),
        proposal: proposals[item.number] ?? null,
        onPropose: (proposal) => setProposals({ ...proposals, [item.number]: proposal }),
        onChange: (change, delay) => controller.change(change, delay),
        onRetryPhoto: () => void controller.load(),
        onPhoto: (state) => setPhoto({ number: item.number, state }),
      }
    : null;

  useKeys((key) => {
    const choice = view.choices.find((each) => each.key === key);
    if (choice) {
      leaveAnswers();
      onAnswer(choice.answer);
    } else if (key === "p") controller.go(position - 1);
    else if (key === "enter") onNext();
    else if (key === "?") document.getElementById("keys-button")?.click();
    else return props !== null && (view.onKey?.(key, props) ?? false);
    return true;
  });
  const nextUrl = sitting?.items[position + 1]?.photo.url ?? "";
  const shown = photo.number === item?.number && photo.state === "shown";
  useEffect(() => {
    if (shown && nextUrl) new Image().src = nextUrl;
  }, [shown, nextUrl]);

  if (!sitting || !item || !props) return null;
  return (
    <div class="task">
      <Header
        title={page.guide.title}
        test={test}
        entries={sitting.entries}
        position={position}
        save={save}
        deadline={deadline}
        onGo={(to) => controller.go(to)}
      />
      <Question
        key={attempt}
        {...props}
        stage={page.stage}
        view={view}
        guide={page.guide}
        standing={standing}
        withheld={withheld}
        blind={blind}
        note={blind && <Blind />}
        onAnswer={onAnswer}
      >
        {notice && (
          <p class="notice" role="alert">
            {notice}
          </p>
        )}
        <Navigation
          position={position}
          count={sitting.items.length}
          open={controller.open}
          finishing={finishing}
          judged={test && entry !== undefined && isAnswered(entry) && entry.feedback !== null}
          onGo={(to) => controller.go(to)}
          onNext={onNext}
          onSubmit={() => void controller.finish()}
        />
      </Question>
    </div>
  );
}

function Blind(): JSX.Element {
  return (
    <div class="notice">
      <p>
        This question cannot be answered without its photo. You can try to load the photo again, or
        return the HIT. Your other answers stay saved.
      </p>
      <HowToReturn />
    </div>
  );
}

/** After a key, Enter goes on to the next question instead of pressing the focused answer. */
function leaveAnswers(): void {
  const focused = document.activeElement;
  if (focused instanceof HTMLElement && focused.closest(".answers")) focused.blur();
}

/** Single keys, wherever the focus is. `take` returns whether the page uses the key. */
function useKeys(take: (key: string) => boolean): void {
  const latest = useRef(take);
  latest.current = take;
  useEffect(() => {
    let clicked: Element | null = null;
    const press = (event: KeyboardEvent): void => {
      const key = pageKey(event, clicked);
      if (key !== null && latest.current(key)) event.preventDefault();
    };
    const click = (event: MouseEvent): void => {
      // Zero for a click by keyboard.
      const byPointer = event.detail > 0 && event.target instanceof Element;
      clicked = byPointer ? event.target.closest("button") : null;
    };
    const leave = (): void => {
      clicked = null;
    };
    document.addEventListener("keydown", press);
    document.addEventListener("click", click);
    document.addEventListener("focusout", leave);
    return () => {
      document.removeEventListener("keydown", press);
      document.removeEventListener("click", click);
      document.removeEventListener("focusout", leave);
    };
  }, []);
}
