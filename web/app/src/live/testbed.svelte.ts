// The testbed behind the gateway, asked while its panel is shown.
import type { Feature, LineString } from 'geojson';
import { Refusal, wanted } from '../api/client';
import { gateway, type Testbed, type TestbedLink } from '../api/gateway';
import { between, type LatLon } from '../geo';
import { path } from '../map/features';
import type { Rating } from '../verdict';
import { poll } from './poll';

const PERIOD_MS = 1000;

/** State of a direction in words. */
export type InForce = 'in-force' | 'partial' | 'down' | 'cut' | 'pending' | 'failed';

export const IN_FORCE: Record<InForce, { name: string; sign: string; rating: Rating; meaning: string }> = {
  'in-force': { name: 'in force', sign: '✓', rating: 'good', meaning: 'the kernel holds what is predicted' },
  partial: {
    name: 'rate only in force',
    sign: '◐',
    rating: 'marginal',
    meaning: 'the kernel limits the rate; it cannot emulate loss and delay',
  },
  pending: { name: 'not yet in force', sign: '…', rating: 'unknown', meaning: 'the change is not applied yet' },
  failed: { name: 'not in force', sign: '▲', rating: 'poor', meaning: 'the change could not be applied' },
  down: { name: 'down', sign: '✕', rating: 'no_link', meaning: 'no link is predicted, and the kernel passes nothing' },
  cut: { name: 'cut', sign: '✂', rating: 'no_link', meaning: 'the link was cut by hand' },
};

export function inForce(link: TestbedLink): InForce {
  if (link.failure) return link.failure.startsWith('rate only') ? 'partial' : 'failed';
  if (link.generation !== link.observed_generation) return 'pending';
  if (link.severed) return 'cut';
  return link.predicted.up ? 'in-force' : 'down';
}

/** A pair of nodes with its directions. */
export interface Pair {
  a: string;
  b: string;
  directions: TestbedLink[];
}

class TestbedPanel {
  /** False when the gateway was started without a testbed. */
  configured = $state<boolean | null>(null);
  view = $state.raw<Testbed | null>(null);
  /** Selected node, by its name. */
  node = $state<string | null>(null);
  fault = $state('');

  byName = $derived(new Map((this.view?.nodes ?? []).map((node) => [node.name, node])));
  pairs = $derived.by((): Pair[] => {
    const found = new Map<string, Pair>();
    for (const link of this.view?.links ?? []) {
      const [a, b] = [link.from, link.to].toSorted() as [string, string];
      const key = `${a}|${b}`;
      const pair = found.get(key) ?? { a, b, directions: [] };
      pair.directions.push(link);
      found.set(key, pair);
    }
    return [...found.values()];
  });

  /** Asks while the panel is shown; returns how to end it. */
  follow(): () => void {
    return poll(() => this.ask(), PERIOD_MS);
  }

  async ask(): Promise<void> {
    await this.#shown(async () => {
      if (!this.configured) this.configured = (await wanted(gateway.GET('/capabilities'))).features['testbed'] ?? false;
      return this.configured ? wanted(gateway.GET('/v1/testbed')) : null;
    });
  }

  async #shown(work: () => Promise<Testbed | null>): Promise<void> {
    try {
      this.view = await work();
      this.fault = '';
    } catch (fault) {
      this.fault = (fault as Error).message;
      if (fault instanceof Refusal && fault.status === 503) this.view = null;
    }
  }

  async fail(name: string): Promise<void> {
    this.view = await wanted(gateway.POST('/v1/testbed/nodes/{name}/fail', { params: { path: { name } } }));
  }

  async repair(name: string): Promise<void> {
    this.view = await wanted(gateway.POST('/v1/testbed/nodes/{name}/repair', { params: { path: { name } } }));
  }

  async move(name: string, to: LatLon): Promise<void> {
    const body = { lat_deg: to.lat, lon_deg: to.lon };
    this.view = await wanted(gateway.PUT('/v1/testbed/nodes/{name}/position', { params: { path: { name } }, body }));
  }

  async cut({ a, b }: Pair): Promise<void> {
    this.view = await wanted(gateway.POST('/v1/testbed/links/cut', { body: { a, b } }));
  }

  async mend({ a, b }: Pair): Promise<void> {
    this.view = await wanted(gateway.POST('/v1/testbed/links/mend', { body: { a, b } }));
  }

  async pace(speed: number): Promise<void> {
    this.view = await wanted(gateway.PUT('/v1/testbed/pace', { body: { speed } }));
  }

  async step(steps: number): Promise<void> {
    this.view = await wanted(gateway.POST('/v1/testbed/steps', { body: { steps } }));
  }

  /** Places of its nodes. */
  places(): Map<string, LatLon> {
    return new Map(
      (this.view?.nodes ?? []).flatMap(({ name, lat_deg, lon_deg }): [string, LatLon][] =>
        typeof lat_deg === 'number' && typeof lon_deg === 'number' ? [[name, { lat: lat_deg, lon: lon_deg }]] : [],
      ),
    );
  }

  /** Directions as halves of lines, each from its sender to the middle. */
  lines(): Feature<LineString>[] {
    const places = this.places();
    return (this.view?.links ?? []).flatMap((link) => {
      const [from, to] = [places.get(link.from), places.get(link.to)];
      if (!from || !to) return [];
      const middle = between(from, to, 0.5);
      const properties = { id: `${link.from}|${link.to}`, a: link.from, b: link.to, rating: IN_FORCE[inForce(link)].rating };
      return [{ type: 'Feature' as const, properties, geometry: { type: 'LineString' as const, coordinates: path([from, middle]) } }];
    });
  }
}

export const testbed = new TestbedPanel();
