// The links of a printed plan, each with what its prediction rests on.
import { api, wanted, type Link, type LinkAnalysis } from '../api/client';
import { closes } from '../verdict';

/** Rows of links on paper: those that carry most. */
export const LINKS_MAX = 60;
/** Points of a path: the report needs its sums alone. */
const SAMPLES = 256;

export interface Row {
  link: Link;
  /** Of both directions; null where the server has refused it. */
  analysis: LinkAnalysis | null;
}

/** Links that work, in the order of their margins. */
export function printed(links: readonly Link[]): Link[] {
  const margin = (link: Link) => Math.min(link.forward.link_margin_db, link.reverse.link_margin_db);
  return links.filter((link) => closes(link.forward) && closes(link.reverse)).toSorted((a, b) => margin(b) - margin(a));
}

/** Analyses links one after the other: others wait for the same server. */
export async function rows(links: readonly Link[], progress: (share: number) => void): Promise<Row[]> {
  const found: Row[] = [];
  const shown = printed(links).slice(0, LINKS_MAX);
  for (const [at, link] of shown.entries()) {
    const body = { tx_node_id: link.a_node_id, rx_node_id: link.b_node_id, samples: SAMPLES };
    found.push({ link, analysis: await wanted(api.POST('/api/v1/links/analyze', { body })).catch(() => null) });
    progress((at + 1) / shown.length);
  }
  return found;
}
