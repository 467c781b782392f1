import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A pair as PEM texts. */
export interface PemPair {
  readonly cert: string
  readonly key: string
}

interface Wanted {
  /** Its common name. Default: the first of `names`. */
  readonly commonName?: string
  /** DNS names and IP addresses, as alternative names. */
  readonly names?: readonly string[]
  readonly days?: number
}

/**
 * A self-signed pair, made by the openssl command: what a test serves is not made by what it tests.
 */
export function pairFor({ names = [], commonName = names[0] ?? 'test', days = 30 }: Wanted = {}): PemPair {
  const folder = mkdtempSync(join(tmpdir(), 'quiesce-pair-'))
  try {
    const [key, cert] = [join(folder, 'key'), join(folder, 'cert')]
    const alternatives = names.map((name) => `${/^[\d.]+$|:/.test(name) ? 'IP' : 'DNS'}:${name}`).join(',')
    const request = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', String(days)]
    const extensions = alternatives === '' ? [] : ['-addext', `subjectAltName=${alternatives}`]
    const args = [...request, '-subj', `/CN=${commonName}`, '-keyout', key, '-out', cert, ...extensions]
    execFileSync('openssl', args, { stdio: 'pipe' })
    return { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') }
  } finally {
    rmSync(folder, { recursive: true })
  }
}
