// What the browser keeps between loads. A frame of another site may not be allowed to use storage:
// then everything is kept in memory, as long as the page is open.

import type { KeptSitting } from "./sitting";

const PREFIX = "chainbox.";
const SITTING = `${PREFIX}sitting.`;
const WEEK = 7 * 86_400_000;

const memory = new Map<string, string>();

function read(key: string): string | null {
  const held = memory.get(key);
  if (held !== undefined) return held;
  try {
    return window.localStorage.getItem(key);
  } catch {
    return null;
  }
}

function write(key: string, value: string): void {
  try {
    window.localStorage.setItem(key, value);
    memory.delete(key);
  } catch {
    // Forbidden, or full. An older value must not be found there later.
    drop(key);
    memory.set(key, value);
  }
}

function drop(key: string): void {
  memory.delete(key);
  try {
    window.localStorage.removeItem(key);
  } catch {
    // Nothing was kept there.
  }
}

/** A worker's small preferences, such as closed guidelines. */
export const choices = {
  get: (name: string): string | null => read(PREFIX + name),
  set: (name: string, value: string): void => write(PREFIX + name, value),
};

export interface SittingStore {
  load(): KeptSitting | null;
  save(kept: KeptSitting): void;
  clear(): void;
}

/** The store of one worker at one assignment. Without a key it lives in memory only. */
export function sittingStore(sittingKey: string, now: () => number = Date.now): SittingStore {
  if (sittingKey === "") return memoryStore();
  const key = SITTING + sittingKey;
  sweep(now());
  return {
    load: () => parse(read(key)),
    save: (kept) => write(key, JSON.stringify({ ...kept, at: now() })),
    clear: () => drop(key),
  };
}

function memoryStore(): SittingStore {
  let held: KeptSitting | null = null;
  return {
    load: () => held,
    save: (kept) => {
      held = kept;
    },
    clear: () => {
      held = null;
    },
  };
}

function parse(text: string | null): (KeptSitting & { readonly at?: number }) | null {
  if (text === null) return null;
  try {
    const value = JSON.parse(text);
    const fine = typeof value?.position === "number" && typeof value.questions === "object";
    return fine && value.questions !== null ? value : null;
  } catch {
    return null;
  }
}

/** Delete sittings that were never finished, so that they do not pile up on a shared machine. */
function sweep(now: number): void {
  try {
    const keys = Object.keys(window.localStorage).filter((key) => key.startsWith(SITTING));
    for (const key of keys) {
      const at = parse(window.localStorage.getItem(key))?.at;
      if (at === undefined || now - at > WEEK) window.localStorage.removeItem(key);
    }
  } catch {
    // Forbidden: nothing is there.
  }
}
