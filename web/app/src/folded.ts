// Names without case and marks, as they are compared.

/** Letters that have no form without a mark. */
const LETTERS: Readonly<Record<string, string>> = {
  ß: 'ss',
  ø: 'o',
  æ: 'ae',
  œ: 'oe',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ı: 'i',
  '’': "'",
  '‘': "'",
};

/** A name as it is compared: without case, marks and hyphens. */
export function folded(text: string): string {
  const plain = text.toLowerCase().normalize('NFD').replace(/\p{M}/gu, '');
  return plain
    .replace(/[ßøæœłđðþı’‘]/g, (letter) => LETTERS[letter] ?? letter)
    .replace(/[\s-]+/g, ' ')
    .trim();
}
