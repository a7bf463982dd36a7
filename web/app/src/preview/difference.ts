// Preview of a link whose ends change: what the server computed for it, and the difference that the change makes. Terms
// that stay cancel; where one of them may change, or the model of the server is not the one at hand, there is no preview.
import type { ItmInputs } from '../../../../io/c/npm/itm.js';
import type { Environment, LinkAnalysis, LinkResult, Node } from '../api/client';
import type { PathLoss } from './itm';

/** An analysis with the nodes and the environment that it was made of. */
export interface Basis {
  analysis: LinkAnalysis;
  /** Transmitter and receiver. */
  ends: readonly [Node, Node];
  environment: Environment;
}

/** What a direction of a link comes to. */
export interface Level {
  rx_power_dbm: number;
  link_margin_db: number;
  snr_db: number;
}

export type Preview = Record<'there' | 'back', Level>;

/** Model that the page has. */
export const MODEL = 'itm';
/** Warnings with which the loss of the server is not that of the model alone. */
const OTHER_LOSS: readonly LinkResult['warnings'][number][] = ['models_blended', 'model_out_of_range'];
/** Change of a height that counts, m. */
const HEIGHT_M = 1e-3;
/** Loss at the heights of the server that differs by more from that of the server is one of another model, or over other ground, dB. */
const SAME_LOSS_DB = 0.05;
/** Change of the length of the ray with which free space, air and rain keep their loss: within 0.05 dB. */
const RANGE_SHARE_MAX = 0.005;
/** The loss of a lobe grows with the square of the angle: a change of that by less than this share of the squared beamwidth is within 0.03 dB. */
const LOBE_SHARE_MAX = 1 / 400;
const FULL_CIRCLE_DEG = 360;
/** Turn of the ray with which walls keep their loss, 0.212 dB a degree (ITU-R P.2109-2, section 3): within 0.05 dB. */
const WALL_TURN_DEG_MAX = 0.2;

/** Fields of a node in a preview: all else stays as the server analysed it. */
function rest({ radio, ...node }: Node): string {
  const { tx_power_dbm: _power, feeder_loss_db: _feeder, antenna, ...channel } = radio;
  const { gain_dbi: _gain, ...lobe } = antenna ?? {};
  const { lat, lon, pointing, surroundings, indoor, woodland_depth_m } = node;
  return JSON.stringify([lat, lon, pointing ?? null, surroundings, indoor, woodland_depth_m, channel, lobe]);
}

/** True if an end has another height or another radio than the one that was analysed. */
export function isChanged({ ends }: Basis, now: readonly [Node, Node]): boolean {
  return now.some((node, at) => {
    const before = ends[at] as Node;
    return isRaised(before, node) || radioChange(before, node).some((change_db) => change_db !== 0) || rest(before) !== rest(node);
  });
}

const isRaised = (before: Node, now: Node) => Math.abs(now.height_agl_m - before.height_agl_m) >= HEIGHT_M;

/** Changes of what a node sends and of what it receives, dB. */
function radioChange(before: Node, now: Node): [number, number] {
  const change = (of: (node: Node) => number | null | undefined) => (of(now) ?? 0) - (of(before) ?? 0);
  const way = change(({ radio }) => radio.antenna?.gain_dbi) - change(({ radio }) => radio.feeder_loss_db);
  return [way + change(({ radio }) => radio.tx_power_dbm), way];
}

/** The link with its ends as they are `now`; null where the page cannot compute it, and where nothing changed. */
export function preview(basis: Basis, now: readonly [Node, Node], loss: PathLoss | null): Preview | null {
  const { analysis, ends } = basis;
  if (!analysis.terrain_known || !isChanged(basis, now) || now.some((node, at) => rest(node) !== rest(ends[at] as Node))) return null;
  const isHigher = now.some((node, at) => isRaised(ends[at] as Node, node));
  const path_db = isHigher ? pathChange(basis, now, loss) : [0, 0];
  if (!path_db) return null;
  const [tx, rx] = now.map((node, at) => radioChange(ends[at] as Node, node)) as [[number, number], [number, number]];
  return {
    there: level(analysis.result, tx[0] + rx[1] - (path_db[0] as number)),
    back: level(analysis.reverse, rx[0] + tx[1] - (path_db[1] as number)),
  };
}

/** The direction with less margin. */
export function weaker({ there, back }: Preview): Level {
  return there.link_margin_db <= back.link_margin_db ? there : back;
}

/** A direction as the server computed it, with a change of its level. */
export function level({ receiver, margin }: LinkResult, change_db = 0): Level {
  return {
    rx_power_dbm: receiver.rx_power_dbm + change_db,
    link_margin_db: margin.link_margin_db + change_db,
    snr_db: receiver.snr_db + change_db,
  };
}

/** Change of the path loss by other heights, there and back, dB. */
function pathChange(basis: Basis, now: readonly [Node, Node], loss: PathLoss | null): [number, number] | null {
  const { analysis } = basis;
  const { result, reverse, profile } = analysis;
  const { model } = result;
  if (reverse.model !== model || basis.environment.model !== model || !isWhole(analysis) || !isAlike(basis, now)) return null;
  if (model === 'free_space') return [0, 0];
  if (model !== MODEL || !loss) return null;
  const heights_msl_m = Float64Array.from(profile.samples, (sample) => sample.elevation_msl_m);
  const step_m = profile.total_distance_m / (heights_msl_m.length - 1);
  if (!(step_m > 0)) return null;
  const before_m = basis.ends.map((node) => node.height_agl_m);
  const now_m = now.map((node) => node.height_agl_m);
  const change = (direction: LinkResult, heights: Float64Array, order: readonly [0 | 1, 0 | 1]) => {
    const inputs = itmInputs(direction, basis.environment, step_m);
    if (!inputs) return null;
    const at = (ends_m: number[]) => loss(heights, { ...inputs, txAglM: ends_m[order[0]] as number, rxAglM: ends_m[order[1]] as number });
    return checked(direction, at(before_m), at(now_m));
  };
  try {
    const there = change(result, heights_msl_m, [0, 1]);
    const back = change(reverse, heights_msl_m.toReversed(), [1, 0]);
    return there === null || back === null ? null : [there, back];
  } catch (fault) {
    // Heights that the model does not have are no fault.
    if (!(fault instanceof RangeError)) console.warn('no preview: the model failed:', fault);
    return null;
  }
}

/** Change between two losses of a direction, dB; null where the server has another loss before. */
function checked({ losses, warnings }: LinkResult, before_db: number, now_db: number): number | null {
  const { free_space_loss_db, reference_attenuation_db, variability_db, excess_loss_db } = losses;
  const terrain_db = (reference_attenuation_db ?? NaN) + (variability_db ?? NaN);
  // The server has no loss below that of free space.
  const limited = (loss_db: number) => Math.max(loss_db, free_space_loss_db);
  const isSame = Math.abs(free_space_loss_db + terrain_db - limited(before_db)) < SAME_LOSS_DB;
  // A calibration that was limited by free space has not all of its loss in the total.
  const isLimited = warnings.includes('calibrated') && warnings.includes('below_free_space_clamped');
  const isOther = isLimited || !Number.isFinite(now_db) || warnings.some((warning) => OTHER_LOSS.includes(warning));
  return isSame && !isOther ? Math.max(limited(now_db) - limited(before_db), -terrain_db, -excess_loss_db) : null;
}

/** Inputs of a direction beside the antennas; null where the environment leaves some to the server. */
function itmInputs(direction: LinkResult, environment: Environment, stepM: number): Omit<ItmInputs, 'txAglM' | 'rxAglM'> | null {
  const { climate, refractivity_n_units, permittivity, conductivity_s_m, time_percent, location_percent, situation_percent } = environment;
  const numbers = [refractivity_n_units, permittivity, conductivity_s_m, time_percent, location_percent, situation_percent];
  if (!climate || numbers.some((number) => number === undefined)) return null;
  return {
    stepM,
    frequencyMhz: direction.frequency_mhz,
    polarization: direction.polarization,
    climate,
    refractivityNUnits: refractivity_n_units as number,
    permittivity: permittivity as number,
    conductivitySM: conductivity_s_m as number,
    timePercent: time_percent as number,
    locationPercent: location_percent as number,
    situationPercent: situation_percent as number,
    // Time, locations and situations apart, as the server has them.
    mdvar: 3,
  };
}

/** True if every sample of the profile has terrain data. */
function isWhole({ profile }: LinkAnalysis): boolean {
  return (
    profile.samples.length >= 2 &&
    profile.missing_samples === 0 &&
    profile.void_samples === 0 &&
    !profile.samples.some((sample) => sample.missing)
  );
}

/** True if nothing but the loss over the terrain depends on the heights: the length of the ray, lobes, surroundings. */
function isAlike({ analysis, ends, environment }: Basis, now: readonly [Node, Node]): boolean {
  const { geometry, losses } = analysis.result;
  const total_m = analysis.profile.total_distance_m;
  const rise = (nodes: readonly [Node, Node]) =>
    geometry.rx_ground_msl_m + nodes[1].height_agl_m - geometry.tx_ground_msl_m - nodes[0].height_agl_m;
  const [before_m, now_m] = [rise(ends), rise(now)];
  if (Math.abs(Math.hypot(total_m, now_m) / Math.hypot(total_m, before_m) - 1) > RANGE_SHARE_MAX) return false;
  const turn_deg = (Math.abs(Math.atan2(now_m, total_m) - Math.atan2(before_m, total_m)) * 180) / Math.PI;
  const cover = [analysis.profile.samples[0], analysis.profile.samples.at(-1)].map((sample) => sample?.land_cover ?? 'unknown');
  return [0, 1].every((at) => {
    const [before, node] = [ends[at] as Node, now[at] as Node];
    const elevation_deg = at ? geometry.rx_elevation_angle_deg : geometry.tx_elevation_angle_deg;
    if (!isLobeAlike(node, elevation_deg, turn_deg) || (isIndoors(node) && turn_deg > WALL_TURN_DEG_MAX)) return false;
    const around = node.surroundings === 'unknown' ? cover[at] : node.surroundings;
    const isOpen = around === 'open' || (around === 'unknown' && !environment.clutter);
    // The loss of surroundings depends on the height and the ray; an antenna that stands clear of them still does so when it is raised.
    const isClear = (at ? losses.clutter_rx_db : losses.clutter_tx_db) === 0 && node.height_agl_m >= before.height_agl_m;
    return isOpen || isClear;
  });
}

/** True if walls stand before an antenna. */
function isIndoors({ indoor }: Node): boolean {
  return (indoor ?? 'outdoors') !== 'outdoors';
}

/** True if an antenna has nearly the same gain in a direction that is turned by some degrees. */
function isLobeAlike({ pointing, radio }: Node, elevation_deg: number, turn_deg: number): boolean {
  const { antenna } = radio;
  if (turn_deg === 0) return true;
  if (!antenna || antenna.pattern || pointing) return false;
  const [across_deg, up_deg] = [antenna.azimuth_beamwidth_deg ?? 0, antenna.elevation_beamwidth_deg ?? 0];
  // Others point at the other end.
  if (across_deg < FULL_CIRCLE_DEG || up_deg >= FULL_CIRCLE_DEG) return true;
  const off_deg = Math.abs(elevation_deg) + Math.abs(antenna.electrical_tilt_deg ?? 0);
  return turn_deg * (2 * off_deg + turn_deg) <= LOBE_SHARE_MAX * up_deg ** 2;
}
