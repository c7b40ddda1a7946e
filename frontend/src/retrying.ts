import { RequestProblem } from "./api";

const FIRST_WAIT = 1000;
const LONGEST_WAIT = 30_000;

/** How long to wait after so many failures in a row. */
export function waitAfter(failures: number): number {
  return Math.min(LONGEST_WAIT, FIRST_WAIT * 2 ** Math.max(0, failures - 1));
}

/**
 * Repeat a request until the server can be reached; throw if the server refuses it.
 *
 * `goOn` is called after every failure; returns null once it returns false.
 */
export async function untilReached<Reply>(
  request: () => Promise<Reply>,
  goOn: (failures: number) => boolean,
): Promise<Reply | null> {
  for (let failures = 1; ; failures++) {
    try {
      return await request();
    } catch (error) {
      if (!(error instanceof RequestProblem) || !error.passing) throw error;
      if (!goOn(failures)) return null;
      await pause(waitAfter(failures));
    }
  }
}

/** Wait, or stop waiting as soon as the connection is back. */
function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      window.removeEventListener("online", done);
      resolve();
    };
    const timer = setTimeout(done, milliseconds);
    window.addEventListener("online", done);
  });
}
