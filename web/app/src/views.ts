// The views of the page, each loaded when it is first shown.
import type { Component } from 'svelte';
import type { Mode } from './store/ui.svelte';
import { readHandedOver } from './store/url';

const LOADERS: Record<Mode, () => Promise<{ default: Component }>> = {
  plan: async () => {
    const [module] = await Promise.all([import('./PlanView.svelte'), readHandedOver(location.search)]);
    return module;
  },
  live: () => import('./live/LiveView.svelte'),
  replay: () => import('./replay/ReplayView.svelte'),
};
const asked = new Map<Mode, Promise<{ default: Component }>>();

/** A view, asked for once; again after it did not come. */
export function view(mode: Mode): Promise<{ default: Component }> {
  const known = asked.get(mode);
  if (known) return known;
  const next = LOADERS[mode]();
  asked.set(mode, next);
  next.catch(() => asked.delete(mode));
  return next;
}
