// Grids of received power, and several of them in one with the best server of each cell.

/** No value in a cell. */
export const NO_VALUE = -32768;
/** No transmitter reaches a cell; [`NO_VALUE`] is lower. */
export const NO_POWER = -32767;
/** The path of a cell lacks terrain data. */
export const PATH_MISSING = 64;
/** The ground of a cell is not known. */
export const NO_GROUND = 128;
/** Bits of the server in `meta`. */
export const SERVER_MASK = 63;

export interface GridBounds {
  south: number;
  west: number;
  north: number;
  east: number;
}

export interface GridShape {
  rows: number;
  columns: number;
  bounds: GridBounds;
}

/** Rows from the north, columns from the west. */
export interface Grid {
  shape: GridShape;
  /** Received power, hundredths of dBm; [`NO_VALUE`] where there is none. */
  power: Int16Array;
  /** Bits 0 to 5 server, 6 [`PATH_MISSING`], 7 [`NO_GROUND`]. */
  meta: Uint8Array;
  /** Probability that the link works, whole percent. */
  percent: Uint8Array;
  /** Number of the server of each cell of a mesh; 255 for none. */
  servers?: Uint8Array;
  /** Received power over noise and interference, hundredths of dB, of a mesh whose nodes disturb each other. */
  sinr?: Int16Array;
}

/** A square of cells as the server sends it: little-endian numbers in base64. */
export interface CellTile {
  row: number;
  column: number;
  rows: number;
  columns: number;
  received_power_cdbm: string;
  link_probability_percent: string;
  server?: string;
  sinr_cdb?: string;
}

/** Colours that tell servers apart. */
const SERVER_COLOURS = 10;

function octets(base64: string): Uint8Array {
  return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
}

/** Puts a square of cells in its place. */
export function put(grid: Grid, tile: CellTile): void {
  const powers = new DataView(octets(tile.received_power_cdbm).buffer);
  const percents = octets(tile.link_probability_percent);
  const ratios = grid.sinr && tile.sinr_cdb !== undefined ? new DataView(octets(tile.sinr_cdb).buffer) : null;
  const servers = grid.servers && tile.server !== undefined ? octets(tile.server) : null;
  for (let row = 0; row < tile.rows; row++) {
    const into = (tile.row + row) * grid.shape.columns + tile.column;
    for (let column = 0; column < tile.columns; column++) {
      const from = row * tile.columns + column;
      const power = powers.getInt16(from * 2, true);
      grid.power[into + column] = power;
      grid.percent[into + column] = percents[from] as number;
      if (ratios && grid.sinr) grid.sinr[into + column] = power === NO_VALUE ? NO_VALUE : ratios.getInt16(from * 2, true);
      if (!servers || !grid.servers) continue;
      const server = servers[from] as number;
      grid.servers[into + column] = server;
      grid.meta[into + column] = power === NO_VALUE ? NO_GROUND : server % SERVER_COLOURS;
    }
  }
}

export function emptyGrid(shape: GridShape): Grid {
  const cells = shape.rows * shape.columns;
  return { shape, power: new Int16Array(cells).fill(NO_VALUE), meta: new Uint8Array(cells), percent: new Uint8Array(cells) };
}

const width = (bounds: GridBounds) => (bounds.east - bounds.west + 360) % 360 || 360;

/** The cell at a place, or null outside. */
export function cellAt(grid: Grid, lat: number, lon: number): number | null {
  const { rows, columns, bounds } = grid.shape;
  const row = Math.floor(((bounds.north - lat) / (bounds.north - bounds.south)) * rows);
  const column = Math.floor((((((lon - bounds.west) % 360) + 360) % 360) / width(bounds)) * columns);
  return row >= 0 && row < rows && column >= 0 && column < columns ? row * columns + column : null;
}

const SIDE_MAX = 2048;

/** Several grids as one: each cell has the strongest of them and says which that is. */
export function strongest(grids: readonly Grid[]): Grid | null {
  const [first] = grids;
  if (!first) return null;
  if (grids.length === 1) return first;
  const all = grids.map((grid) => grid.shape);
  const bounds = {
    south: Math.min(...all.map((shape) => shape.bounds.south)),
    north: Math.max(...all.map((shape) => shape.bounds.north)),
    west: Math.min(...all.map((shape) => shape.bounds.west)),
    east: Math.max(...all.map((shape) => shape.bounds.west + width(shape.bounds))),
  };
  const height = Math.min(...all.map((shape) => (shape.bounds.north - shape.bounds.south) / shape.rows));
  const breadth = Math.min(...all.map((shape) => width(shape.bounds) / shape.columns));
  const rows = Math.min(SIDE_MAX, Math.round((bounds.north - bounds.south) / height));
  const columns = Math.min(SIDE_MAX, Math.round((bounds.east - bounds.west) / breadth));
  const found = emptyGrid({ rows, columns, bounds });
  for (let row = 0; row < rows; row++) {
    const lat = bounds.north - ((row + 0.5) * (bounds.north - bounds.south)) / rows;
    for (let column = 0; column < columns; column++) {
      const lon = bounds.west + ((column + 0.5) * (bounds.east - bounds.west)) / columns;
      const into = row * columns + column;
      for (const [server, grid] of grids.entries()) {
        const from = cellAt(grid, lat, lon);
        if (from === null) continue;
        const [power, meta] = [grid.power[from] as number, grid.meta[from] as number];
        if (power > (found.power[into] as number)) {
          found.power[into] = power;
          found.percent[into] = grid.percent[from] as number;
          found.meta[into] = (meta & ~SERVER_MASK) | server;
        } else if (found.power[into] === NO_VALUE && meta & NO_GROUND) found.meta[into] = NO_GROUND;
      }
    }
  }
  return found;
}

/** Cells of a grid that one of two grids, the other, or both serve. */
export const COMMON = { first: 0, second: 1, both: 2 } as const;

/** Two grids as one whose cells say who serves them; a cell that none of them serves has no power. `serves` says if a power, hundredths of dBm, is enough of a grid. */
export function common(grids: readonly [Grid, Grid], serves: (power: number, at: number) => boolean): Grid | null {
  const joint = strongest(grids);
  if (!joint) return null;
  const { rows, columns, bounds } = joint.shape;
  const found = { ...joint, power: joint.power.slice(), meta: joint.meta.slice() };
  for (let row = 0; row < rows; row++) {
    const lat = bounds.north - ((row + 0.5) * (bounds.north - bounds.south)) / rows;
    for (let column = 0; column < columns; column++) {
      const into = row * columns + column;
      if (found.power[into] === NO_VALUE) continue;
      const lon = bounds.west + ((column + 0.5) * (bounds.east - bounds.west)) / columns;
      const [first, second] = grids.map((grid, at) => {
        const cell = cellAt(grid, lat, lon);
        const power = cell === null ? NO_VALUE : (grid.power[cell] as number);
        return power > NO_POWER && serves(power, at);
      });
      if (!first && !second) found.power[into] = NO_POWER;
      else
        found.meta[into] =
          ((found.meta[into] as number) & ~SERVER_MASK) | (first && second ? COMMON.both : first ? COMMON.first : COMMON.second);
    }
  }
  return found;
}

/** Semi-major axis, km, and squared eccentricity of the ellipsoid of WGS 84. */
const [AXIS_KM, ECCENTRICITY_2] = [6378.137, 0.00669437999];

/** Area of a cell around a latitude, km². */
function cellArea_km2(lat: number, height_deg: number, breadth_deg: number): number {
  const [phi, degree] = [(lat * Math.PI) / 180, Math.PI / 180];
  const bent = 1 - ECCENTRICITY_2 * Math.sin(phi) ** 2;
  const [north_km, east_km] = [(AXIS_KM * (1 - ECCENTRICITY_2)) / bent ** 1.5, (AXIS_KM / Math.sqrt(bent)) * Math.cos(phi)];
  return height_deg * degree * north_km * breadth_deg * degree * east_km;
}

/** Cells of known ground, and those of them that are drawn. */
export interface Cover {
  known: number;
  drawn: number;
  /** Area of the drawn cells, km². */
  area_km2: number;
}

/** Counts the cells of a grid that a condition draws; those that no transmitter reaches are not drawn. */
export function coverOf(grid: Grid, isDrawn: (cell: number) => boolean): Cover {
  const { rows, columns, bounds } = grid.shape;
  const cover: Cover = { known: 0, drawn: 0, area_km2: 0 };
  const [height_deg, breadth_deg] = [(bounds.north - bounds.south) / rows, width(bounds) / columns];
  for (let row = 0; row < rows; row++) {
    const cell_km2 = cellArea_km2(bounds.north - (row + 0.5) * height_deg, height_deg, breadth_deg);
    for (let cell = row * columns; cell < (row + 1) * columns; cell++) {
      if (grid.power[cell] === NO_VALUE) continue;
      cover.known++;
      if ((grid.power[cell] as number) <= NO_POWER || !isDrawn(cell)) continue;
      cover.drawn++;
      cover.area_km2 += cell_km2;
    }
  }
  return cover;
}
