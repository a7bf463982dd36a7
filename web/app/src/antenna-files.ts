// Files of antenna patterns: which are meant, and their content for the server.

/** Endings of pattern files; the server finds the format by the content. */
export const PATTERNS: readonly string[] = ['msi', 'pln', 'pat', 'adf', 'ant', 'az', 'el'];

/** True if a file is one of an antenna pattern by its name. */
export function isPattern(file: File): boolean {
  return PATTERNS.includes(file.name.toLowerCase().split('.').at(-1) ?? '');
}

/** The content of a file in base64. */
export async function base64(file: File): Promise<string> {
  const octets = new Uint8Array(await file.arrayBuffer());
  const parts: string[] = [];
  for (let at = 0; at < octets.length; at += 0x8000) parts.push(String.fromCharCode(...octets.subarray(at, at + 0x8000)));
  return btoa(parts.join(''));
}

/** Loss of a cut in a direction, dB: samples at even angles of one turn, between them straight. */
export function lossDb(losses_db: readonly number[], angle_deg: number): number {
  const count = losses_db.length;
  const at = ((((angle_deg / 360) * count) % count) + count) % count;
  const below = Math.floor(at) % count;
  const [from, to] = [losses_db[below] ?? 0, losses_db[(below + 1) % count] ?? 0];
  return from + (to - from) * (at - Math.floor(at));
}
