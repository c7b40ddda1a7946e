import { RequestProblem } from "./api";

const FIRST_WAIT = 1000;
const LONGEST_WAIT = 30_000;

/** How long to wait after so many failures in a row. */
export function waitAfter(failures: number): number {
  return Math.min(LONGEST_WAIT, FIRST_WAIT * 2 ** Math.max(0, failures - 1));
}

/**
 * Repeat a request until the server can be reached; what it refuses is thrown.
 *
 * `goOn` hears of every failure; null is returned when it says no.
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

/** Wait, but no longer than until the connection is back. */
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
