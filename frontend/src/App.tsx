import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { apiOf } from "./api";
import { Controller } from "./controller";
import { Examples } from "./pages/Examples";
import { Message } from "./pages/Message";
import { Preview } from "./pages/Preview";
import { Sitting } from "./pages/Sitting";
import type { Page } from "./protocol";
import { sittingStore } from "./store";

export function App({ page }: { readonly page: Page }): JSX.Element {
  switch (page.mode) {
    case "preview":
      return <Preview page={page} />;
    case "examples":
      return <Examples page={page} />;
    case "problem":
      return (
        <Message title={page.problem?.title ?? "This page cannot be shown"}>
          <p>{page.problem?.text}</p>
        </Message>
      );
    default:
      return <Work page={page} />;
  }
}

function Work({ page }: { readonly page: Page }): JSX.Element {
  const controller = useMemo(
    () => new Controller(page, apiOf(page), sittingStore(page.sittingKey)),
    [page],
  );
  return <Sitting page={page} controller={controller} />;
}
