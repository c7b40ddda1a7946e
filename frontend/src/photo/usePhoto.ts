import { useLayoutEffect, useState } from "preact/hooks";

export type PhotoState = "loading" | "shown" | "missing";

/** Milliseconds before each further attempt. */
export const WAITS = [500, 2000];

interface Load {
  readonly url: string;
  readonly state: PhotoState;
  readonly attempt: number;
  readonly failures: number;
  readonly waiting: boolean;
}

export interface Loading {
  readonly state: PhotoState;
  /** Changes with every attempt: as the key of the <img> it makes the browser ask again. */
  readonly attempt: number;
  loaded(): void;
  failed(): void;
  retry(): void;
}

/** Load a photo: retry twice automatically after a failure, then only on request. */
export function usePhoto(url: string, onState?: (state: PhotoState) => void): Loading {
  const [kept, setLoad] = useState(() => begin(url));
  const load = kept.url === url ? kept : begin(url);
  if (load !== kept) setLoad(load);

  useLayoutEffect(() => {
    if (!load.waiting) return;
    const again = () => setLoad({ ...load, waiting: false, attempt: load.attempt + 1 });
    const timer = setTimeout(again, WAITS[load.failures - 1]);
    return () => clearTimeout(timer);
  }, [load]);

  useLayoutEffect(() => onState?.(load.state), [load.state, url]);

  return {
    state: load.state,
    attempt: load.attempt,
    loaded: () => setLoad({ ...load, state: "shown" }),
    failed: () => {
      if (load.waiting) return;
      const failures = load.failures + 1;
      const waiting = failures <= WAITS.length;
      setLoad({ ...load, failures, waiting, state: waiting ? "loading" : "missing" });
    },
    retry: () => setLoad({ ...begin(url), attempt: load.attempt + 1 }),
  };
}

function begin(url: string): Load {
  return { url, state: url ? "loading" : "missing", attempt: 0, failures: 0, waiting: false };
}
