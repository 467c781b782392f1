/** Sets of names as texts, because the states of monitors are texts. */
export const withName = (names: string, name: string): string => (has(names, name) ? names : [...names.split('\n'), name].sort().join('\n'))
export const without = (names: string, name: string): string =>
  names
    .split('\n')
    .filter((other) => other !== name)
    .join('\n')
export const has = (names: string, name: string): boolean => names.split('\n').includes(name)
