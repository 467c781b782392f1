import { oneLine } from '../base/cells.ts'

/**
 * Messages may draw a place below themselves, or quote what they were given; a problem is one line
 * without what a terminal obeys, marks that turn its direction among it.
 */
export const firstLine = (message: string): string => oneLine(message.split('\n', 1)[0] as string)
