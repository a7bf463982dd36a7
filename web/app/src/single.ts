// Work that is begun once, whatever a double click asks for.

/** Time after the end of the work in which another call is still part of the same double click, ms. */
const DOUBLE_MS = 400;

/** Work that a further call does not begin while it runs, nor right after its end. */
export function single<A extends unknown[]>(work: (...args: A) => Promise<unknown>): (...args: A) => Promise<void> {
  let isRunning = false;
  return async (...args) => {
    if (isRunning) return;
    isRunning = true;
    try {
      await work(...args);
    } finally {
      setTimeout(() => (isRunning = false), DOUBLE_MS);
    }
  };
}
