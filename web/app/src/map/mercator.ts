// Web Mercator places: the world is a square of side 1 with the north-west corner at the origin.

/** Northern edge of that square, degrees. */
export const LAT_MAX_DEG = 85.0511;

export const mercatorX = (lon: number) => (lon + 180) / 360;
export const mercatorY = (lat: number) => 0.5 - Math.log(Math.tan(Math.PI / 4 + (lat * Math.PI) / 360)) / (2 * Math.PI);

/** The projection of places relative to an anchor, multiplied in double precision. */
export function anchored(matrix: ArrayLike<number>, [x, y]: readonly [number, number]): Float32Array {
  const found = Float64Array.from(matrix);
  for (let row = 0; row < 4; row++)
    found[12 + row] = (matrix[row] as number) * x + (matrix[4 + row] as number) * y + (matrix[12 + row] as number);
  return Float32Array.from(found);
}
