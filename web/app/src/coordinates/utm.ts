// Transverse Mercator on WGS84 with the scale and easting of UTM: the series of Krüger to the sixth order
// (C. F. F. Karney, Journal of Geodesy 85, 2011). As `systems/model/terrain/utm.rs`.

const AXIS_M = 6_378_137;
const FLATTENING = 1 / 298.257_223_563;
const SCALE = 0.9996;
const FALSE_EASTING_M = 500_000;
const SOUTHERN_NORTHING_M = 1e7;
const NEWTON_ROUNDS = 5;

const N = FLATTENING / (2 - FLATTENING);
const E = Math.sqrt(FLATTENING * (2 - FLATTENING));
const RADIUS_M = ((SCALE * AXIS_M) / (1 + N)) * (1 + N ** 2 / 4 + N ** 4 / 64 + N ** 6 / 256);

/** Factors of rising powers of the third flattening, from the power of their number on. */
const BETA = [
  [1 / 2, -2 / 3, 37 / 96, -1 / 360, -81 / 512, 96_199 / 604_800],
  [1 / 48, 1 / 15, -437 / 1_440, 46 / 105, -1_118_711 / 3_870_720],
  [17 / 480, -37 / 840, -209 / 4_480, 5_569 / 90_720],
  [4_397 / 161_280, -11 / 504, -830_251 / 7_257_600],
  [4_583 / 161_280, -108_847 / 3_991_680],
  [20_648_693 / 638_668_800],
].map((factors, at) => factors.reduceRight((sum, factor) => sum * N + factor, 0) * N ** (at + 1));

/** Latitude and longitude of an easting and a northing of a zone, degrees. */
export function unproject(zone: number, isSouth: boolean, easting_m: number, northing_m: number): [number, number] {
  const xi0 = (northing_m - (isSouth ? SOUTHERN_NORTHING_M : 0)) / RADIUS_M;
  const eta0 = (easting_m - FALSE_EASTING_M) / RADIUS_M;
  let [xi, eta] = [xi0, eta0];
  for (const [at, term] of BETA.entries()) {
    const turn = 2 * (at + 1);
    xi -= term * Math.sin(turn * xi0) * Math.cosh(turn * eta0);
    eta -= term * Math.cos(turn * xi0) * Math.sinh(turn * eta0);
  }
  const conformal = Math.sin(xi) / Math.hypot(Math.sinh(eta), Math.cos(xi));
  const away_deg = (Math.atan2(Math.sinh(eta), Math.cos(xi)) * 180) / Math.PI;
  const rest = 1 - E * E;
  let tau = conformal / rest;
  for (let round = 0; round < NEWTON_ROUNDS; round++) {
    const secant = Math.hypot(1, tau);
    const sigma = Math.sinh(E * Math.atanh((E * tau) / secant));
    const estimate = tau * Math.hypot(1, sigma) - sigma * secant;
    tau += (((conformal - estimate) / Math.hypot(1, estimate)) * (1 + rest * tau * tau)) / (rest * secant);
  }
  return [(Math.atan(tau) * 180) / Math.PI, zone * 6 - 183 + away_deg];
}
