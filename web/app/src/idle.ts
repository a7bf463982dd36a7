// Work that can wait until the page has nothing else to do.

/** Wait in browsers that do not say when they are idle, as WebKit does not, ms. */
const WAIT_MS = 200;

/** Does work once the page is idle. */
export function whenIdle(work: () => void): void {
  if (typeof requestIdleCallback === 'function') requestIdleCallback(work);
  else setTimeout(work, WAIT_MS);
}
