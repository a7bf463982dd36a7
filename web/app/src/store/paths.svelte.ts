// The path over the ground that the profile shows: that of the selected link, or one between places without nodes.
import { api, wanted, type LinkAnalysis } from '../api/client';
import { courseOf, section, sight, type Course, type End, type Heights, type Sight } from '../clearance';
import type { LatLon } from '../geo';
import type { Plan } from './plan.svelte';

/** An end of a path before its ground is asked for. */
export type Spot = Omit<End, 'ground_msl_m'>;

/** Samples of a profile between places without nodes. */
const SAMPLES = 512;
/** Antenna at a place without a node, m above ground: that of a new node. */
const HEIGHT_AGL_M = 10;
/** Frequency of a path without a radio, MHz. */
const FREQUENCY_MHZ = 868;
const EARTH_RADIUS_M = 6_371_008.8;
/** Effective Earth radius factor of a deployment that gives none. */
const K_FACTOR = 4 / 3;
/** Share of a path without terrain data from which it is not known. */
const MISSING_SHARE_MAX = 0.05;
/** Heights nearer than this are the same, m. */
const ANALYSED_M = 0.01;
/** Letters of the ends without nodes. */
const LETTERS = ['A', 'B'] as const;

export class Paths {
  constructor(
    private readonly plan: Plan,
    private readonly analysis: () => LinkAnalysis | null,
  ) {}

  /** The path between two places of which one at least has no node. */
  free = $state.raw<Course | null>(null);
  /** First end of a path whose other end is not chosen yet. */
  from = $state.raw<Spot | null>(null);
  /** Heights of masts while they are dragged, and until they are stored. */
  heights_agl_m = $state.raw<Heights | null>(null);

  course = $derived.by(() => {
    const analysis = this.analysis();
    return analysis ? courseOf(analysis, this.plan.byId) : this.free;
  });
  section = $derived(this.course ? section(this.course, this.heights_agl_m) : null);
  /** Clearance of the path: that of the server, or of masts that it has not analysed. */
  sight = $derived.by((): Sight | null => {
    const { section, course } = this;
    const result = this.analysis()?.result;
    if (!section || !course) return null;
    const isAnalysed =
      result &&
      [result.geometry.tx_antenna_msl_m, result.geometry.rx_antenna_msl_m].every(
        (antenna_msl_m, at) => Math.abs(antenna_msl_m - (section.antennas_msl_m[at] as number)) < ANALYSED_M,
      );
    if (isAnalysed) {
      const { clearance } = result;
      return {
        line_of_sight: clearance.line_of_sight,
        ratio: clearance.fresnel_clearance_ratio ?? null,
        lowest: clearance.obstruction ?? null,
      };
    }
    return sight(section);
  });
  /** The ground that blocks the path most; null where it is in sight. */
  obstruction = $derived(this.sight && !this.sight.line_of_sight ? this.sight.lowest : null);

  #asking = 0;

  /** An end at a node, or at a place of the map. */
  spot(place: LatLon, id?: string): Spot {
    const node = id ? this.plan.byId.get(id) : undefined;
    if (node) return { id: node.id, name: node.name, place: { lat: node.lat, lon: node.lon }, height_agl_m: node.height_agl_m };
    return { id: null, name: LETTERS[this.from?.id === null ? 1 : 0], place, height_agl_m: HEIGHT_AGL_M };
  }

  /** Asks for the ground between two ends. */
  async between(ends: readonly [Spot, Spot]): Promise<void> {
    const turn = ++this.#asking;
    const [from, to] = ends.map(({ place }) => place) as [LatLon, LatLon];
    const profile = await wanted(api.POST('/api/v1/terrain/profile', { body: { from, to, samples: SAMPLES } }));
    if (turn !== this.#asking) return;
    const [first, last] = [profile.samples[0], profile.samples.at(-1)];
    const radio = ends.map(({ id }) => this.plan.byId.get(id ?? '')?.radio.frequency_mhz).find((frequency) => frequency != null);
    const k_factor = this.plan.deployment?.environment.k_factor ?? K_FACTOR;
    // A place does not share the name of a node at the other end.
    const isShared = (end: Spot) => end.id === null && ends.every(({ name }) => name === end.name);
    const nameOf = (end: Spot) => (isShared(end) ? (LETTERS.find((letter) => letter !== end.name) ?? end.name) : end.name);
    this.heights_agl_m = null;
    this.from = null;
    this.free = {
      ends: ends.map((end, at) => ({ ...end, name: nameOf(end), ground_msl_m: (at === 0 ? first : last)?.elevation_msl_m ?? 0 })) as [
        End,
        End,
      ],
      azimuth_deg: profile.forward_azimuth_deg,
      effective_earth_radius_m: k_factor * EARTH_RADIUS_M,
      k_factor,
      frequency_mhz: radio ?? this.plan.nodes[0]?.radio.frequency_mhz ?? FREQUENCY_MHZ,
      profile,
      terrain_known: !first?.missing && !last?.missing && profile.missing_samples <= MISSING_SHARE_MAX * profile.samples.length,
    };
  }

  /** Ends of the free path as the plan has them now; null where nothing changed, or there is none. */
  moved(): [Spot, Spot] | null {
    const { free } = this;
    if (!free) return null;
    const ends = free.ends.map((end): Spot => {
      const node = end.id ? this.plan.byId.get(end.id) : undefined;
      return node
        ? { id: node.id, name: node.name, place: { lat: node.lat, lon: node.lon }, height_agl_m: node.height_agl_m }
        : { id: null, name: end.name, place: end.place, height_agl_m: end.height_agl_m };
    }) as [Spot, Spot];
    const isSame = ends.every((end, at) => {
      const { ground_msl_m: _, ...before } = free.ends[at] as End;
      return (
        JSON.stringify(end) === JSON.stringify({ id: before.id, name: before.name, place: before.place, height_agl_m: before.height_agl_m })
      );
    });
    return isSame ? null : ends;
  }

  /** Gives ends without nodes other heights. */
  raise(heights_agl_m: Heights): void {
    if (this.free)
      this.free = {
        ...this.free,
        ends: this.free.ends.map((end, at) => (end.id ? end : { ...end, height_agl_m: heights_agl_m[at] ?? end.height_agl_m })) as [
          End,
          End,
        ],
      };
  }

  clear(): void {
    this.#asking++;
    [this.free, this.from, this.heights_agl_m] = [null, null, null];
  }
}
