// Which interfaces the page may ask at its own address.

export interface Offer {
  /** Path in front of those of the planning interface; null if it is not served here. */
  planning: string | null;
  /** The same of the gateway. */
  gateway: string | null;
  /** Path of a base map, a PMTiles archive; null for none. */
  basemap: string | null;
}

export const offer: Offer = { planning: '', gateway: null, basemap: null };

/** Asks once, before anything is shown. A server that does not say is a planning server. */
export async function ask(): Promise<void> {
  const answer = await fetch('/page.json').catch(() => null);
  if (answer?.ok) Object.assign(offer, await answer.json());
}
