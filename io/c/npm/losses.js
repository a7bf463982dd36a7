// Losses of paths by the Irregular Terrain Model, by any module that has it.

import { call } from "./memory.js";

const CLIMATES = [
  "equatorial",
  "continental_subtropical",
  "maritime_subtropical",
  "desert",
  "continental_temperate",
  "maritime_temperate_land",
  "maritime_temperate_sea",
];
const POLARIZATIONS = ["horizontal", "vertical"];

function code(name, value, values, first) {
  const place = values.indexOf(value);
  if (place < 0) {
    throw new RangeError(`invalid ${name}: found ${JSON.stringify(value)}, allowed ${values.join(", ")}`);
  }
  return place + first;
}

export function losses(exports, heights, samples, inputs) {
  const all = {
    climate: "continental_temperate",
    refractivityNUnits: 301,
    polarization: "vertical",
    permittivity: 15,
    conductivitySM: 0.005,
    mdvar: 12,
    timePercent: 50,
    locationPercent: 50,
    situationPercent: 50,
    ...inputs,
  };
  const numbers = Float64Array.of(
    all.stepM,
    all.txAglM,
    all.rxAglM,
    code("climate", all.climate, CLIMATES, 1),
    all.refractivityNUnits,
    all.frequencyMhz,
    code("polarization", all.polarization, POLARIZATIONS, 0),
    all.permittivity,
    all.conductivitySM,
    all.mdvar,
    all.timePercent,
    all.locationPercent,
    all.situationPercent,
  );
  const profiles = heights instanceof Float64Array ? heights : Float64Array.from(heights);
  if (!Number.isInteger(samples) || samples < 2 || profiles.length % samples !== 0) {
    throw new RangeError(
      `invalid samples: found ${samples} for ${profiles.length} heights, allowed a divisor of their number from 2 on`,
    );
  }
  return call(
    {
      ...exports,
      // The C function has the number of samples and of paths, and the inputs without a length.
      itm: (address, length, inputsAddress) =>
        exports.groundwave_itm(address, samples, length / samples, inputsAddress),
    },
    "itm",
    [profiles, numbers],
  ).array;
}
