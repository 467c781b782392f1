/** What Unicode calls white space; unlike `trim`, also U+0085, and not U+FEFF. */
const AT_THE_ENDS = /^\p{White_Space}+|\p{White_Space}+$/gu

/** @see strings.TrimSpace of Go's standard library */
export const goTrimSpace = (text: string): string => text.replace(AT_THE_ENDS, '')
