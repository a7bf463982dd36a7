// Answers that the service worker (worker.ts) has kept, and requests that no server takes.

/** Field of a kept answer with the time at which the server gave it. */
const KEPT = 'x-kept-at';

/** The state of the server, as the page has it: set by its stores. */
export const connection = {
  /** True while the server does not answer. */
  isGone: (): boolean => false,
  /** Called for each kept answer, with the time at which the server gave it. */
  kept: (_at: Date): void => undefined,
};

/** An answer, after the page has noted whether it is a kept one. */
export function noted(answer: Response): Response {
  const at = answer.headers.get(KEPT);
  if (at !== null) connection.kept(new Date(at || Date.now()));
  return answer;
}

/** A request that would store or compute something, and was not sent: the server does not answer. */
export class Unsent extends Error {}

/** Sends a request, unless it needs a server that is known to be gone. */
export async function sent(request: Request): Promise<Response> {
  if (request.method !== 'GET' && connection.isGone())
    throw new Unsent('The server does not answer: nothing was stored or computed. Try again when it is back.');
  return noted(await fetch(request));
}
