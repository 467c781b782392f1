import { execFileSync } from 'node:child_process'
import { createPrivateKey } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
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

/** Runs openssl in a folder of its own, and answers with the files that it has made there. */
function made(files: readonly string[], ...commands: readonly (readonly string[])[]): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'quiesce-pair-'))
  try {
    for (const args of commands) execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' })
    return files.map((file) => readFileSync(join(folder, file), 'utf8'))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']

/**
 * A self-signed pair, made by the openssl command: what a test serves is not made by what it tests.
 */
export function pairFor({ names = [], commonName = names[0] ?? 'test', days = 30 }: Wanted = {}): PemPair {
  const alternatives = names.map((name) => `${/^[\d.]+$|:/.test(name) ? 'IP' : 'DNS'}:${name}`).join(',')
  const extensions = alternatives === '' ? [] : ['-addext', `subjectAltName=${alternatives}`]
  const request = ['req', '-x509', ...NEW_KEY, '-days', String(days), '-subj', `/CN=${commonName}`, '-keyout', 'key', '-out', 'cert']
  const [cert, key] = made(['cert', 'key'], [...request, ...extensions]) as [string, string]
  return { cert, key }
}

/** The command takes no attribute that it has no name for: that of a uid in Kubernetes. */
const REQUEST_CONFIG = 'oid_section = oids\n[oids]\nuserUid = 1.3.6.1.4.1.57683.2\n[req]\ndistinguished_name = name\n[name]\n'

/**
 * A certificate of a CA, and a key, for a client of this name, which further attributes may follow:
 * `ann/O=dev/userUid=7`.
 */
export function clientOf(ca: PemPair, name: string): PemPair {
  const folder = mkdtempSync(join(tmpdir(), 'quiesce-ca-'))
  try {
    writeFileSync(join(folder, 'ca.crt'), ca.cert)
    writeFileSync(join(folder, 'ca.key'), ca.key)
    writeFileSync(join(folder, 'request.cnf'), REQUEST_CONFIG)
    const signed = ['-CA', join(folder, 'ca.crt'), '-CAkey', join(folder, 'ca.key'), '-set_serial', '7', '-days', '30']
    const [cert, key] = made(
      ['cert', 'key'],
      ['req', '-config', join(folder, 'request.cnf'), ...NEW_KEY, '-subj', `/CN=${name}`, '-keyout', 'key', '-out', 'request'],
      ['x509', '-req', '-in', 'request', ...signed, '-out', 'cert'],
    ) as [string, string]
    return { cert, key }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** A CA that another one has certified: its certificate stands behind those that it signs. */
export function intermediateOf(ca: PemPair, commonName: string): PemPair {
  const folder = mkdtempSync(join(tmpdir(), 'quiesce-ca-'))
  try {
    const write = (name: string, text: string): string => {
      writeFileSync(join(folder, name), text)
      return join(folder, name)
    }
    const signed = ['-CA', write('ca.crt', ca.cert), '-CAkey', write('ca.key', ca.key), '-set_serial', '9', '-days', '30']
    const extensions = write('extensions', 'basicConstraints=critical,CA:TRUE\nkeyUsage=critical,keyCertSign\n')
    const [cert, key] = made(
      ['cert', 'key'],
      ['req', ...NEW_KEY, '-subj', `/CN=${commonName}`, '-keyout', 'key', '-out', 'request'],
      ['x509', '-req', '-in', 'request', ...signed, '-extfile', extensions, '-out', 'cert'],
    ) as [string, string]
    return { cert, key }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** The key, encrypted with a passphrase. */
export function encrypted({ key }: PemPair, passphrase: string): string {
  const cipher = { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase } as const
  return String(createPrivateKey(key).export(cipher))
}
