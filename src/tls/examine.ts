import { isIP } from 'node:net'
import type { SecureContextOptions } from 'node:tls'
import { toError } from '../base/errors.ts'
import type { ClientCa } from './client-ca.ts'
import { SecureContexts } from './contexts.ts'
import { expiryOf, inWords, validityOf, warningMs } from './expiry.ts'
import { certificatesIn, type Pair, type PairText } from './pair.ts'
import type { Provider } from './provider.ts'
import { providersOf } from './providers.ts'
import type { TlsSettings } from './settings.ts'

/** What there is to say of a pair or a client CA before it is served. */
export interface Finding {
  /** `fails`: with it the server does not start, or its clients turn away. */
  readonly verdict: 'holds' | 'warns' | 'fails'
  /** One line, which begins with the file or the option. */
  readonly text: string
}

/**
 * Looks at everything that a listener would serve, as its start does, and at what a start does not
 * refuse: what has expired, and names that a certificate is not valid for.
 * @param given what the server has beside its certificates: ciphers, curves
 * @param wall in milliseconds since the epoch
 */
export async function examine(settings: TlsSettings, given: SecureContextOptions, wall: number): Promise<readonly Finding[]> {
  const { serving, sni, clientCa } = providersOf(settings, undefined)
  // The start goes on without files that are waited for.
  const verdict = settings.waitForFiles ? 'warns' : 'fails'
  const findings: Finding[] = []
  const look = async <T>(provider: Provider<T>, looked: (current: T) => readonly Finding[]): Promise<void> => {
    try {
      await provider.refresh()
      findings.push(...looked(provider.current as T))
    } catch (thrown) {
      findings.push({ verdict, text: toError(thrown).message })
    }
  }
  const pairFindings = (pair: Pair, names: readonly string[] = []): readonly Finding[] => {
    // Throws what OpenSSL has against it.
    void new SecureContexts({ serving: pair, sni: [], clientCa: undefined }, { ...given, minVersion: settings.minVersion })
    return [lifetime(pair, settings.expiryWarningMs, wall), ...foreignNames(pair, names)]
  }
  if (serving) await look(serving, (pair) => pairFindings(pair))
  for (const { names, pair: provider } of sni) await look(provider, (pair) => pairFindings(pair, names))
  if (clientCa) await look(clientCa, ({ bundle }) => caFindings(bundle, wall))
  return findings
}

function lifetime(pair: Pair, warnedMs: number | undefined, wall: number): Finding {
  const validity = validityOf(pair)
  const { from, notBefore, notAfter } = validity
  const text = expiryOf(validity, wall, warnedMs ?? warningMs(validity))
  if (text === undefined) return { verdict: 'holds', text: `${from}: a pair that is valid until ${inWords(notAfter)}` }
  return { verdict: wall < notBefore || wall >= notAfter ? 'fails' : 'warns', text }
}

/** Names that it is chosen for, and that its clients will not find in it. */
const foreignNames = ({ cert, leaf }: PairText & Pick<Pair, 'leaf'>, names: readonly string[]): Finding[] =>
  names
    // Of a wildcard it takes every name, or none that could be asked for here.
    .filter((name) => !name.startsWith('*') && (isIP(name) > 0 ? leaf.checkIP(name) : leaf.checkHost(name)) === undefined)
    .map((name) => ({ verdict: 'warns', text: `${cert.from}: the certificate is not valid for ${name}, which it is chosen for` }))

/** A bundle fails when none of its certificates is valid. */
function caFindings(bundle: ClientCa['bundle'], wall: number): Finding[] {
  const all = certificatesIn(bundle)
  const invalid = all.flatMap(({ validFrom, validTo }, index) => {
    const text = expiryOf(
      { from: `${bundle.from}, certificate ${index + 1}`, notBefore: Date.parse(validFrom), notAfter: Date.parse(validTo) },
      wall,
      0,
    )
    return text === undefined ? [] : [text]
  })
  if (invalid.length === 0) return [{ verdict: 'holds', text: `${bundle.from}: a client CA` }]
  return invalid.map((text) => ({ verdict: invalid.length === all.length ? 'fails' : 'warns', text }))
}
