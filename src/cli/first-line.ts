/**
 * Messages may draw a place below themselves, or quote what they were given; a problem is one line
 * without control characters.
 */
export const firstLine = (message: string): string => (message.split('\n', 1)[0] as string).replace(/\p{Cc}+/gu, ' ')
