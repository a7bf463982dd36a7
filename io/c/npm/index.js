// Links, profiles and coverages.

import { losses } from "./losses.js";
import { call, instance } from "./memory.js";

/** Georeference of an elevation array as the module reads it. */
function extent({ bounds, rows, columns, undulationM }) {
  const [west, south, east, north] = bounds;
  return JSON.stringify({
    west_deg: west,
    south_deg: south,
    east_deg: east,
    north_deg: north,
    rows,
    columns,
    ...(undulationM === undefined ? {} : { undulation_m: undulationM }),
  });
}

const floats = (heights) => (heights instanceof Float32Array ? heights : Float32Array.from(heights));
const doubles = (heights) => (heights instanceof Float64Array ? heights : Float64Array.from(heights));

/** Rows of an array by their names. */
function named(names, array) {
  const length = array.length / names.length;
  return Object.fromEntries(names.map((name, row) => [name, array.subarray(row * length, (row + 1) * length)]));
}

export async function load(source) {
  const { compiled, exports } = await instance(source, new URL("./groundwave.wasm", import.meta.url));
  const over = (name, request, elevation) =>
    call(exports, name, [JSON.stringify(request), extent(elevation), floats(elevation.heights)]);
  return {
    module: compiled,
    link: (request, elevation) => over("groundwave_link", request, elevation).document,
    linkOver: (request, heights) =>
      call(exports, "groundwave_link_over", [JSON.stringify(request), doubles(heights)]).document,
    profile: (request, elevation) => {
      const { document, array } = over("groundwave_profile", request, elevation);
      const { columns, ...facts } = document;
      return { ...facts, columns: named(columns, array) };
    },
    coverage: (request, elevation) => {
      const { document, array } = over("groundwave_coverage", request, elevation);
      const { planes, ...facts } = document;
      return { ...facts, planes: named(planes, array) };
    },
    coverageSize: (request) => call(exports, "groundwave_coverage_size", [JSON.stringify(request)]).document,
    presets: () => call(exports, "groundwave_presets", []).document,
    itm: (heights, inputs) => losses(exports, heights, heights.length, inputs)[0],
    itmRows: (heights, samples, inputs) => losses(exports, heights, samples, inputs),
  };
}
