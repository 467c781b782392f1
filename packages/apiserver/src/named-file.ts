import { readFile } from 'node:fs/promises'
import { QuiesceError, toError } from './engine.ts'

/**
 * The text of a file that an option or another file names.
 * @throws QuiesceError ERR_OPTION_INVALID for one that cannot be read, by its name
 */
export async function readNamed(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (thrown) {
    const why = toError(thrown).message
    throw new QuiesceError(
      'ERR_OPTION_INVALID',
      `${file}: ${why}`,
      { field: file, given: file, allowed: 'a file that can be read' },
      thrown,
    )
  }
}
