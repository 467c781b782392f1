import { readFile } from 'node:fs/promises'
import { toError } from '../base/errors.ts'
import { type PairText, type Sourced, tlsError } from './pair.ts'

/** Where the two halves of a pair come from: texts, or files. */
export interface PairSource {
  readonly cert: string | undefined
  readonly key: string | undefined
  readonly certFile: string | undefined
  readonly keyFile: string | undefined
  readonly passphrase: string | undefined
}

/**
 * What a pair is now.
 * @param option how messages name what was given as text: `tls`, `tls.sni[0]`
 * @throws QuiesceError ERR_TLS for a file that cannot be read
 */
export async function readPair(option: string, { cert, key, certFile, keyFile, passphrase }: PairSource): Promise<PairText> {
  return {
    cert: await sourced(`${option}.cert`, cert, certFile),
    key: await sourced(`${option}.key`, key, keyFile),
    passphrase,
  }
}

async function sourced(option: string, text: string | undefined, file: string | undefined): Promise<Sourced> {
  return file === undefined ? { from: option, text: text ?? '' } : { from: file, text: await readPem(file) }
}

/** @throws QuiesceError ERR_TLS in one line */
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
