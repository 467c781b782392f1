const WORDS: ReadonlyMap<number, string> = new Map([
  [1 / 2, 'half'],
  [1 / 3, 'a third'],
  [4 / 5, 'four fifths'],
  [9 / 10, 'nine tenths'],
])

/** A share in words, for documentation; one that has none in per cent. */
export const fraction = (share: number): string => WORDS.get(share) ?? `${Math.round(share * 1_000) / 10} %`
