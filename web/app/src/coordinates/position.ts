// Positions as people write and paste them. Spellings are read by the code of the command line (reader.ts); links of
// maps, labels and the words of other languages are brought into one of those first.
import type { LatLon } from '../geo';
import { read, type Reader } from './reader';

/** A place, or the reason why a text is none. */
export type Position = { place: LatLon } | { reason: string };

const NUMBER = String.raw`[-+]?\d+(?:\.\d+)?`;

/** Places in links: Google, Apple, Bing, OpenStreetMap; the pin before the centre of the view. */
const LINKS: readonly RegExp[] = [
  new RegExp(`!3d(${NUMBER})!4d(${NUMBER})`),
  new RegExp(`[?&#]mlat=(${NUMBER})&mlon=(${NUMBER})`),
  new RegExp(
    `[?&](?:q|query|ll|sll|daddr|destination|center|coordinate|loc)=(?:loc:)?(${NUMBER})(?:,|%2C)[+ ]?(?:%20)?(${NUMBER})(?![\\d.])`,
    'i',
  ),
  new RegExp(`/(?:search|place|dir/)/?(${NUMBER}),\\+?(${NUMBER})(?:[/?]|$)`),
  new RegExp(`[?&]cp=(${NUMBER})~(${NUMBER})`),
  new RegExp(`[?&]lat=(${NUMBER})&(?:lon|lng)=(${NUMBER})`),
  new RegExp(`#(?:.*[?&])?map=[\\d.]+/(${NUMBER})/(${NUMBER})`),
  new RegExp(`/@(${NUMBER}),(${NUMBER})`),
];

/** Places in links that have the longitude first: Yandex, and OpenStreetMap where the marker is written so. */
const SWAPPED: readonly RegExp[] = [
  new RegExp(`^(?:https?://)?(?:www\\.|maps\\.)?yandex\\..*[?&](?:pt|ll)=(${NUMBER})(?:,|%2C)(${NUMBER})(?![\\d.])`, 'i'),
  new RegExp(`[?&#]mlon=(${NUMBER})&mlat=(${NUMBER})`),
];

/** Words of hemispheres that mean one thing in every language that has them. */
const WORDS: readonly (readonly [RegExp, string])[] = [
  [/(?<!\p{L})(?:north|nord|norte|norr)(?!\p{L})\.?/giu, 'N'],
  [/(?<!\p{L})(?:south|süd|sued|sud|sur|söder|syd)(?!\p{L})\.?/giu, 'S'],
  [/(?<!\p{L})(?:east|ost|est|este|öst)(?!\p{L})\.?/giu, 'E'],
  [/(?<!\p{L})(?:west|oeste|ouest|ovest|väst|vest)(?!\p{L})\.?/giu, 'W'],
  [/Ö(?!\p{L})/giu, 'E'],
];

/** Signs that look like those of degrees, minutes, seconds and minus. */
const SIGNS: readonly (readonly [RegExp, string])[] = [
  [/[∘○ᵒ⁰]/g, '°'],
  [/[ʹ´‘‛＇ˈ]/g, "'"],
  [/[ʺ“„‟＂]/g, '"'],
  [/[−–—‐‑‒﹣－](?=\d)/g, '-'],
  [/(?<![\d.-])(\d{1,3})-(\d{1,2})-(\d{1,2}(?:\.\d+)?)\s*(?=[NSEW](?!\p{L}))/giu, '$1° $2\' $3" '],
  [/(\d)\s*(?:degrees?|deg\.?)(?!\p{L})/giu, '$1°'],
  [/(\d)\s*d\s*(\d+(?:[.,]\d+)?)\s*m(?:in)?(?:\s*(\d+(?:[.,]\d+)?)\s*s(?:ec)?(?!\p{L}))?/giu, "$1° $2' $3"],
];

/** A place in a link, a `geo:` URI, labelled numbers or well-known text; null for another spelling. */
function wrapped(text: string): [string, string] | null {
  const numbers = (found: RegExpExecArray | null): [string, string] | null => found && [found[1] ?? '', found[2] ?? ''];
  if (/^https?:\/\//i.test(text) || /^(?:www\.|maps\.)/i.test(text)) {
    for (const link of SWAPPED) {
      const found = numbers(link.exec(text));
      if (found) return [found[1], found[0]];
    }
    for (const link of LINKS) {
      const found = numbers(link.exec(text));
      if (found) return found;
    }
    return null;
  }
  const query = new RegExp(`^geo:0(?:\\.0+)?,0(?:\\.0+)?\\?q=(${NUMBER}),(${NUMBER})`, 'i').exec(text);
  const uri = new RegExp(`^geo:(${NUMBER}),(${NUMBER})(?:,${NUMBER})?(?:[;?].*)?$`, 'i').exec(text);
  if (query || uri) return numbers(query ?? uri);
  const wkt = numbers(
    new RegExp(`^(?:SRID=4326;\\s*)?POINT\\s*Z?\\s*\\(\\s*(${NUMBER})\\s+(${NUMBER})(?:\\s+${NUMBER})?\\s*\\)$`, 'i').exec(text),
  );
  if (wkt) return [wkt[1], wkt[0]];
  // ISO 6709 in degrees: two and three digits before the point.
  const iso = /^([-+]\d{2}(?:\.\d+)?)([-+]\d{3}(?:\.\d+)?)(?:[-+]\d+(?:\.\d+)?)?(?:CRS\w*)?\/?$/.exec(text);
  return numbers(iso);
}

/** Text without the labels of its numbers, latitude first. */
function unlabelled(text: string): string {
  const label = /["']?\b(lat(?:itude)?|lon(?:g(?:itude)?)?|lng)\b["']?\s*[:=]?\s*/gi;
  const labels = [...text.matchAll(label)];
  const [one, other] = labels;
  if (labels.length !== 2 || !one || !other) return text;
  const clean = (part: string) =>
    part
      .replace(/[{}]/g, '')
      .replace(/[\s,;&]+$/, '')
      .trim();
  const parts = [text.slice(one.index + one[0].length, other.index), text.slice(other.index + other[0].length)].map(clean);
  return (/^lat/i.test(one[1] ?? '') ? parts : parts.toReversed()).join('; ');
}

/** A text without what stands around a position: a label before it, a name in brackets after it, a full stop. */
function bare(text: string): string {
  return text
    .replace(/[０-９]/g, (digit) => String.fromCharCode(digit.charCodeAt(0) - 0xfee0))
    .trim()
    .replace(/^(?:gps|pos(?:ition)?|coord(?:inate)?s?|location)\s*:\s*/i, '')
    .replace(/(?<=\d[°'"″′NSEW]?)\s*\((?=[^)]*\p{L})[^)]*\)$/iu, '')
    .replace(/(?<=[\dNSEW°'"″′])\s*[.,;]+$/i, '')
    .replace(/(\d)\s+,\s*/g, '$1, ');
}

/** Spelling of the command line for a text, or the reason why it has none. */
function spellingOf(text: string): { spelling: string } | { reason: string } {
  const refuse = (allowed: string) => ({ reason: `invalid position: found ${JSON.stringify(text)}, allowed ${allowed}` });
  const plain = bare(text);
  const degrees = wrapped(plain);
  if (degrees) return { spelling: degrees.join(',') };
  if (/^https?:/i.test(plain)) return refuse('a link of a map with a place in it');
  let spelling = unlabelled(plain);
  for (const [pattern, sign] of [...SIGNS, ...WORDS]) spelling = spelling.replace(pattern, sign);
  spelling = spelling.replace(/^([^/]*\d[^/]*) \/ ([^/]*\d[^/]*)$/, '$1; $2').trim();
  // East in German, west in Spanish, French and Italian.
  if (/\d[\s°'′’"″”]*O(?!\p{L})|(?<!\p{L})O\s*\d/iu.test(spelling))
    return refuse('E or W in place of O, which is east in German and west in Spanish and French');
  return { spelling };
}

/** Reads a position, by the module of the page unless another reader is given. */
export async function parsePosition(text: string, reader: Reader = read): Promise<Position> {
  const spelled = spellingOf(text);
  if ('reason' in spelled) return spelled;
  const reading = await reader(spelled.spelling).catch(() => null);
  if (!reading) return { reason: 'The position cannot be read: the server does not answer. Try again.' };
  if ('error' in reading) return { reason: reading.error };
  const [lat, lon] = reading.degrees;
  return { place: { lat, lon } };
}
