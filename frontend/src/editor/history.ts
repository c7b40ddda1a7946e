/** Undo and redo. Changes in quick succession that carry the same tag count as one. */
export interface History<T> {
  readonly past: readonly T[];
  readonly now: T;
  readonly future: readonly T[];
  readonly tag: string;
  readonly at: number;
}

const KEPT = 200;
const TOGETHER_MS = 1000;

export function begun<T>(now: T): History<T> {
  return { past: [], now, future: [], tag: "", at: 0 };
}

export function changed<T>(history: History<T>, now: T, tag = "", at = 0): History<T> {
  const together = tag !== "" && tag === history.tag && at - history.at < TOGETHER_MS;
  const past = together ? history.past : [...history.past, history.now].slice(-KEPT);
  return { past, now, future: [], tag, at };
}

export function undone<T>(history: History<T>): History<T> {
  const { past, now, future } = history;
  if (past.length === 0) return history;
  return { ...begun(past.at(-1) as T), past: past.slice(0, -1), future: [now, ...future] };
}

export function redone<T>(history: History<T>): History<T> {
  const { past, now, future } = history;
  if (future.length === 0) return history;
  return { ...begun(future[0] as T), past: [...past, now], future: future.slice(1) };
}
