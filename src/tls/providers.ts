import { type ClientCa, checkClientCa } from './client-ca.ts'
import { checkPair, type Pair, type Sourced } from './pair.ts'
import { Provider } from './provider.ts'
import { sourced } from './read-source.ts'
import type { PairSettings, TlsSettings } from './settings.ts'

/** Everything that a listener serves, each with the last of it that could be used. */
export interface Providers {
  readonly serving: Provider<Pair> | undefined
  readonly sni: readonly { readonly names: readonly string[] | undefined; readonly pair: Provider<Pair> }[]
  readonly clientCa: Provider<ClientCa> | undefined
}

/** @param made the pair that takes the place of a given one */
export function providersOf(settings: TlsSettings, made: { readonly cert: string; readonly key: string } | undefined): Providers {
  const { sni, clientCa, clientCaFile } = settings
  const serving = made ? { ...settings, ...made } : settings
  return {
    serving: isGiven(serving) ? pairProvider('tls', serving) : undefined,
    sni: sni.map((entry, index) => ({ names: entry.names, pair: pairProvider(`tls.sni[${index}]`, entry) })),
    clientCa: clientCa === undefined && clientCaFile === undefined ? undefined : caProvider('tls.clientCa', clientCa, clientCaFile),
  }
}

const isGiven = ({ cert, certFile }: PairSettings): boolean => cert !== undefined || certFile !== undefined

const present = (...files: readonly (string | undefined)[]): string[] => files.filter((file) => file !== undefined)

const pairProvider = (option: string, { cert, key, certFile, keyFile, passphrase }: PairSettings): Provider<Pair> =>
  new Provider({
    what: 'pair',
    from: certFile ?? `${option}.cert`,
    files: present(certFile, keyFile),
    read: async () => [await sourced(`${option}.cert`, cert, certFile), await sourced(`${option}.key`, key, keyFile)],
    check: ([ofCert, ofKey]) => checkPair({ cert: ofCert as Sourced, key: ofKey as Sourced, passphrase }),
  })

/** The provider of a CA of clients, as a text or as a file. */
export const caProvider = (option: string, text: string | undefined, file: string | undefined): Provider<ClientCa> =>
  new Provider({
    what: 'client CA',
    from: file ?? option,
    files: present(file),
    read: async () => [await sourced(option, text, file)],
    check: ([bundle]) => checkClientCa(bundle as Sourced),
  })
