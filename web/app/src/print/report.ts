// The links of a printed plan, each with what its prediction rests on.
import { api, wanted, type Link, type LinkAnalysis } from '../api/client';
import { closes } from '../verdict';

/** Rows of links on paper: those that carry most. */
export const LINKS_MAX = 60;

export interface Row {
  link: Link;
  /** Of both directions; null where the server has refused it. */
  analysis: LinkAnalysis | null;
}

/** Links that work, in the order of their margins, and those of which that is not known: they lie over ground without terrain data. None of failed nodes. */
export function printed(links: readonly Link[], failed: ReadonlySet<string>): { working: Link[]; unknown: Link[] } {
  const margin = (link: Link) => Math.min(link.forward.link_margin_db, link.reverse.link_margin_db);
  const shown = links
    .filter((link) => closes(link.forward) && closes(link.reverse) && !failed.has(link.a_node_id) && !failed.has(link.b_node_id))
    .toSorted((a, b) => margin(b) - margin(a));
  return { working: shown.filter((link) => link.ground !== 'unknown'), unknown: shown.filter((link) => link.ground === 'unknown') };
}

/** Analyses links one after the other: others wait for the same server. */
export async function rows(links: readonly Link[], progress: (share: number) => void): Promise<Row[]> {
  const found: Row[] = [];
  const shown = links.slice(0, LINKS_MAX);
  for (const [at, link] of shown.entries()) {
    const body = { tx_node_id: link.a_node_id, rx_node_id: link.b_node_id, is_per_post: true };
    found.push({ link, analysis: await wanted(api.POST('/api/v1/links/analyze', { body })).catch(() => null) });
    progress((at + 1) / shown.length);
  }
  return found;
}
