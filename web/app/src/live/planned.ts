// Links that the plan predicts between nodes of the live mesh, where a planning server is beside the gateway.
import { api, wanted, type Link } from '../api/client';
import type { GraphLink } from '../api/gateway';

/** Deployments that are looked through at most. */
const DEPLOYMENTS_MAX = 20;

/** Planned links among these nodes, from the deployments that hold them. */
export async function plannedLinks(ids: ReadonlySet<string>): Promise<Link[]> {
  const deployments = await wanted(api.GET('/api/v1/deployments'));
  const found: Link[] = [];
  for (const { id } of deployments.slice(0, DEPLOYMENTS_MAX)) {
    const params = { path: { id } };
    const nodes = await wanted(api.GET('/api/v1/deployments/{id}/nodes', { params }));
    if (nodes.filter((node) => ids.has(node.id)).length < 2) continue;
    const { links } = await wanted(api.GET('/api/v1/deployments/{id}/links', { params }));
    found.push(...links.filter((link) => ids.has(link.a_node_id) && ids.has(link.b_node_id)));
  }
  return found;
}

/** Those that neither end has measured, as links of the topology; `names` are its ids by node. */
export function unmeasured(links: readonly Link[], measured: readonly GraphLink[], names: ReadonlyMap<string, string>): GraphLink[] {
  const key = (a: string, b: string) => [a, b].sort().join('|');
  const known = new Set(measured.map((link) => key(link.source, link.target)));
  return links.flatMap((link): GraphLink[] => {
    const [source, target] = [names.get(link.a_node_id), names.get(link.b_node_id)];
    if (!source || !target || known.has(key(source, target)) || link.ground === 'unknown') return [];
    const worse = link.forward.link_margin_db < link.reverse.link_margin_db ? link.forward : link.reverse;
    const predicted = {
      rx_power_dbm: worse.rx_power_dbm,
      margin_db: worse.link_margin_db,
      snr_db: worse.snr_db,
      path_loss_db: worse.path_loss_db,
      viable: worse.verdict !== 'no_link',
      rx_power_interval_dbm: worse.rx_power_interval_dbm,
      link_prob: worse.link_prob,
      basis: worse.basis,
    };
    return [{ source, target, cost: 1, cost_text: '', properties: { kind: 'planned', status: 'down', predicted } }];
  });
}
