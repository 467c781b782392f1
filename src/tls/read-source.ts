import { readFile } from 'node:fs/promises'
import { toError } from '../base/errors.ts'
import { type Sourced, tlsError } from './pair.ts'

/**
 * A text as it is now.
 * @param option how messages name what was given as text: `tls.cert`, `tls.sni[0].key`
 * @throws QuiesceError ERR_TLS for a file that cannot be read, in one line
 */
export async function sourced(option: string, text: string | undefined, file: string | undefined): Promise<Sourced> {
  return file === undefined ? { from: option, text: text ?? '' } : { from: file, text: await readPem(file) }
}

async function readPem(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (thrown) {
    const { code, message } = toError(thrown) as NodeJS.ErrnoException
    throw tlsError(file, REASONS[code ?? ''] ?? `cannot be read (${message})`, thrown)
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EACCES: 'may not be read by this process (EACCES)',
  EISDIR: 'is a folder',
}
