// Previews of a link in the page: the compiled model, and the difference of a change.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import type { ItmInputs } from '../../../io/c/npm/itm.js';
import type { LinkAnalysis, LinkResult, Node } from '../src/api/client';
import { isChanged, preview, weaker, type Basis } from '../src/preview/difference';
import { pathLossOf, type PathLoss } from '../src/preview/itm';
import { Plan } from '../src/store/plan.svelte';
import { Previews } from '../src/store/preview.svelte';

const loss = await pathLossOf(readFileSync(join(import.meta.dirname, '../wasm/itm.wasm')));

const SAMPLES = 101;
const STEP_M = 100;
const TOTAL_M = STEP_M * (SAMPLES - 1);
const INPUTS = { stepM: STEP_M, txAglM: 20, rxAglM: 20, frequencyMhz: 868, mdvar: 3 };
/** A ridge a third along the way. */
const HEIGHTS_M = Array.from({ length: SAMPLES }, (_, at) => 40 * Math.exp(-(((at - 33) / 8) ** 2)));
const FREE_SPACE_DB = 111.22;
const POWER_DBM = -100;

function node(id: string, change: Partial<Node> = {}): Node {
  const antenna = { azimuth_beamwidth_deg: 360, elevation_beamwidth_deg: 40, electrical_tilt_deg: 0, gain_dbi: 2 };
  const radio = { frequency_mhz: 868, tx_power_dbm: 14, feeder_loss_db: 0.5, antenna };
  return {
    id,
    lat: 57,
    lon: 12,
    height_agl_m: 20,
    radio,
    pointing: null,
    surroundings: 'unknown',
    indoor: 'outdoors',
    woodland_depth_m: 0,
    ...change,
  } as Node;
}

/** A direction as the server has it, with the loss of ITM. */
function direction(heights_m: number[], model = 'itm'): LinkResult {
  const terrain_db = loss(Float64Array.from(heights_m), INPUTS) - FREE_SPACE_DB;
  return {
    model,
    frequency_mhz: 868,
    polarization: 'vertical',
    geometry: { tx_ground_msl_m: heights_m[0], rx_ground_msl_m: heights_m.at(-1), tx_elevation_angle_deg: 0, rx_elevation_angle_deg: 0 },
    losses: {
      free_space_loss_db: FREE_SPACE_DB,
      reference_attenuation_db: terrain_db - 1,
      variability_db: 1,
      excess_loss_db: terrain_db,
      clutter_tx_db: 0,
      clutter_rx_db: 0,
    },
    warnings: [],
    receiver: { rx_power_dbm: POWER_DBM, snr_db: 5 },
    margin: { link_margin_db: 12 },
  } as unknown as LinkResult;
}

function basis({
  model = 'itm',
  ends = [node('a'), node('b')],
  samples = {},
  profile = {},
  environment = {},
  known = true,
}: {
  model?: string;
  ends?: [Node, Node];
  samples?: Record<number, object>;
  profile?: object;
  environment?: object;
  known?: boolean;
} = {}): Basis {
  const analysis = {
    terrain_known: known,
    profile: {
      total_distance_m: TOTAL_M,
      missing_samples: 0,
      void_samples: 0,
      samples: HEIGHTS_M.map((elevation_msl_m, at) => ({ elevation_msl_m, distance_m: at * STEP_M, ...samples[at] })),
      ...profile,
    },
    result: direction(HEIGHTS_M, model),
    reverse: direction(HEIGHTS_M.toReversed(), model),
  } as unknown as LinkAnalysis;
  const medium = {
    climate: 'continental_temperate',
    refractivity_n_units: 301,
    permittivity: 15,
    conductivity_s_m: 0.005,
    time_percent: 50,
    location_percent: 50,
    situation_percent: 50,
  };
  return { analysis, ends, environment: { model, ...medium, ...environment } as Basis['environment'] };
}

const walls = (height_agl_m: number) => node('a', { height_agl_m, indoor: 'traditional' });
const raised = (height_agl_m: number): [Node, Node] => [node('a', { height_agl_m }), node('b')];
const powered = (change: object): [Node, Node] => {
  const one = node('a');
  return [{ ...one, radio: { ...one.radio, ...change } }, node('b')];
};

/** Rows of a published table that consist of numbers alone. */
function rows(name: string): number[][] {
  const lines = readFileSync(join(import.meta.dirname, '../../../tests/fixtures/itm', name), 'utf8')
    .trim()
    .split('\n');
  return lines.map((line) => line.split(',').map(Number)).filter((row) => row.every((number) => !Number.isNaN(number)));
}

const CLIMATES = [
  'equatorial',
  'continental_subtropical',
  'maritime_subtropical',
  'desert',
  'continental_temperate',
  'maritime_temperate_land',
  'maritime_temperate_sea',
] as const;

test('the compiled model has the losses that NTIA published, and refuses inputs that it does not have', () => {
  const profiles = rows('ntia_pfls.csv');
  const cases = rows('ntia_p2p.csv');
  expect(cases.length).toBeGreaterThan(3);
  cases.forEach(
    (
      [
        txAglM,
        rxAglM,
        permittivity,
        conductivitySM,
        refractivityNUnits,
        frequencyMhz,
        pol,
        climate,
        timePercent,
        locationPercent,
        situationPercent,
        mdvar,
        want_db,
      ],
      at,
    ) => {
      const [, stepM, ...heights_m] = profiles[at]!;
      const inputs = {
        stepM,
        txAglM,
        rxAglM,
        permittivity,
        conductivitySM,
        refractivityNUnits,
        frequencyMhz,
        timePercent,
        locationPercent,
        situationPercent,
        mdvar,
      } as ItmInputs;
      const polarization = pol ? 'vertical' : 'horizontal';
      const loss_db = loss(Float64Array.from(heights_m), { ...inputs, polarization, climate: CLIMATES[climate! - 1]! });
      expect(Math.abs(loss_db - want_db!), `case ${at}`).toBeLessThan(0.006);
    },
  );
  expect(() => loss(Float64Array.from(HEIGHTS_M), { ...INPUTS, txAglM: 0.1 })).toThrow(RangeError);
});

test('a mast that is raised has the difference of both losses, in each direction by its own', () => {
  const of = (heights: number[], txAglM: number, rxAglM: number) => loss(Float64Array.from(heights), { ...INPUTS, txAglM, rxAglM });
  const there = preview(basis(), raised(45), loss)!;
  expect(there.there.rx_power_dbm).toBeCloseTo(POWER_DBM + of(HEIGHTS_M, 20, 20) - of(HEIGHTS_M, 45, 20), 9);
  const back = HEIGHTS_M.toReversed();
  expect(there.back.rx_power_dbm).toBeCloseTo(POWER_DBM + of(back, 20, 20) - of(back, 20, 45), 9);
  expect(there.there.link_margin_db - 12).toBeCloseTo(there.there.rx_power_dbm - POWER_DBM, 9);
  expect(there.there.snr_db - 5).toBeCloseTo(there.there.rx_power_dbm - POWER_DBM, 9);
  expect(weaker(there)).toBe(there.there.link_margin_db <= there.back.link_margin_db ? there.there : there.back);
});

test('power counts in one direction, gain and feeder in both, under any model', () => {
  const levels = (change: object, of = basis({ model: 'p1812' })) => {
    const found = preview(of, powered(change), null)!;
    return [found.there.rx_power_dbm - POWER_DBM, found.back.rx_power_dbm - POWER_DBM];
  };
  expect(levels({ tx_power_dbm: 17 })).toEqual([3, 0]);
  expect(levels({ feeder_loss_db: 1.5 })).toEqual([-1, -1]);
  expect(levels({ antenna: { ...node('a').radio.antenna, gain_dbi: 5 } })).toEqual([3, 3]);
});

test('free space has no loss by height', () => {
  expect(preview(basis({ model: 'free_space' }), raised(45), null)).toMatchObject({
    there: { rx_power_dbm: POWER_DBM },
    back: { rx_power_dbm: POWER_DBM },
  });
});

test('nothing is shown where nothing changed', () => {
  expect(isChanged(basis(), raised(20))).toBe(false);
  expect(preview(basis(), raised(20), loss)).toBeNull();
  expect(isChanged(basis(), raised(21))).toBe(true);
});

const forest = (height_agl_m: number) => node('a', { height_agl_m, surroundings: 'forest' });
test.each<[string, Basis, [Node, Node]]>([
  ['another model', basis({ model: 'p1812' }), raised(45)],
  ['the fallback model', basis({ environment: { model: 'p1812' } }), raised(45)],
  ['ground that is mostly unknown', basis({ known: false }), raised(45)],
  ['a sample without ground', basis({ samples: { 50: { missing: true } }, profile: { missing_samples: 1 } }), raised(45)],
  ['a void', basis({ profile: { void_samples: 1 } }), raised(45)],
  ['ground that is not that of the server', basis({ samples: { 33: { elevation_msl_m: 70 } } }), raised(45)],
  ['other ground constants', basis({ environment: { refractivity_n_units: 340 } }), raised(45)],
  ['a setting that the server keeps', basis({ environment: { climate: undefined } }), raised(45)],
  ['a height beyond the model', basis(), raised(3500)],
  ['a ray that becomes longer', basis(), raised(2000)],
  [
    'a fixed direction',
    basis({ ends: [node('a', { pointing: { azimuth_deg: 0, elevation_deg: 0 } }), node('b')] }),
    [node('a', { height_agl_m: 45, pointing: { azimuth_deg: 0, elevation_deg: 0 } }), node('b')],
  ],
  ['an end that is lowered into a forest', basis({ ends: [forest(20), node('b')] }), [forest(8), node('b')]],
  ['walls that the ray meets more steeply', basis({ ends: [walls(20), node('b')] }), [walls(100), node('b')]],
  ['clutter of the environment', basis({ environment: { clutter: { kind: 'statistical' } } }), raised(8)],
  ['land cover at the end', basis({ samples: { 0: { land_cover: 'urban' } } }), raised(8)],
  ['another frequency', basis(), powered({ frequency_mhz: 869 })],
  ['another place', basis(), [node('a', { lat: 57.1 }), node('b')]],
])('no preview for %s', (_, of, now) => expect(preview(of, now, loss)).toBeNull());

test('an antenna above its surroundings is raised further', () => {
  expect(preview(basis({ ends: [forest(20), node('b')] }), [forest(45), node('b')], loss)).not.toBeNull();
});

test('an antenna behind walls is raised by little', () => {
  expect(preview(basis({ ends: [walls(20), node('b')] }), [walls(45), node('b')], loss)).not.toBeNull();
  expect(preview(basis(), raised(100), loss)).not.toBeNull();
});

test('no loss is below that of free space', () => {
  const excess_db = loss(Float64Array.from(HEIGHTS_M), INPUTS) - FREE_SPACE_DB;
  expect(preview(basis(), raised(45), () => FREE_SPACE_DB + excess_db)!.there.rx_power_dbm).toBeCloseTo(POWER_DBM, 9);
  const below: PathLoss = (_, { txAglM, rxAglM }) => FREE_SPACE_DB + (txAglM === rxAglM ? excess_db : -7);
  expect(preview(basis(), raised(45), below)!.there.rx_power_dbm).toBeCloseTo(POWER_DBM + excess_db, 9);
  const clear = basis();
  for (const { losses } of [clear.analysis.result, clear.analysis.reverse])
    Object.assign(losses, { reference_attenuation_db: 0, variability_db: 0, excess_loss_db: 0 });
  const rising: PathLoss = (_, { txAglM, rxAglM }) => FREE_SPACE_DB + (txAglM === rxAglM ? -3 : 4);
  expect(preview(clear, raised(45), rising)!.there.rx_power_dbm).toBeCloseTo(POWER_DBM - 4, 9);
  const limited = basis();
  limited.analysis.result.warnings.push('below_free_space_clamped');
  expect(preview(limited, raised(45), loss)).not.toBeNull();
  limited.analysis.result.warnings.push('calibrated');
  expect(preview(limited, raised(45), loss)).toBeNull();
});

test('a loss that is not defined, and a module that stops, give none', () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  const undefinedAbove: PathLoss = (heights, inputs) => (inputs.txAglM === inputs.rxAglM ? loss(heights, inputs) : NaN);
  expect([preview(basis(), raised(45), undefinedAbove), warn.mock.calls.length]).toEqual([null, 0]);
  const stopping: PathLoss = () => {
    throw new WebAssembly.RuntimeError('unreachable');
  };
  expect([preview(basis(), raised(45), stopping), warn.mock.calls.length]).toEqual([null, 1]);
  warn.mockRestore();
});

test('no preview of a height without the module', () => expect(preview(basis(), raised(45), null)).toBeNull());

test('without the module the page has no previews, warns once for each change, and tries again', async () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  const plan = new Plan();
  const of = basis();
  plan.nodes = raised(45);
  let answers = 0;
  const load = async (): Promise<PathLoss> => {
    if (answers++ === 0) throw new Error('not there');
    return loss;
  };
  const previews = new Previews(
    plan,
    () => of,
    () => null,
    load,
  );
  expect([previews.isWanted, previews.current]).toEqual([true, null]);
  await previews.prepare();
  expect([previews.current, warn.mock.calls.length]).toEqual([null, 1]);
  await previews.prepare();
  expect(previews.current).not.toBeNull();
  await previews.prepare();
  expect(answers).toBe(2);
  previews.draft = { id: 'a', tx_power_dbm: 20 };
  expect(previews.current!.there.rx_power_dbm - preview(of, raised(45), loss)!.there.rx_power_dbm).toBeCloseTo(6, 9);
  expect(previews.raised([20, null])!.there.rx_power_dbm).toBeCloseTo(POWER_DBM + 6, 9);
  warn.mockRestore();
});

test('a preview takes less than a frame', () => {
  const times = Array.from({ length: 20 }, (_, at) => {
    const from = performance.now();
    preview(basis(), raised(21 + at), loss);
    return performance.now() - from;
  });
  const median_ms = times.sort((a, b) => a - b)[10]!;
  console.info(`preview: ${median_ms.toFixed(2)} ms at the median`);
  expect(median_ms).toBeLessThan(16);
});
