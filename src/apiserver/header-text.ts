/** Node reads the bytes of a header as Latin-1; they are taken for UTF-8. */
export const headerText = (value: string): string => (/[\x80-\xff]/.test(value) ? Buffer.from(value, 'latin1').toString() : value)
