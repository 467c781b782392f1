import type { MetricWords } from '../base/wording.ts'
import type { MetricFamily } from '../metrics/family.ts'
import type { Certificates, PairValidity } from '../tls/certificates.ts'

/** What health and metrics say of the certificates of a life. */
export class CertificateWatch {
  #all: readonly Certificates[] = []

  /** Takes the certificates, which are known when the listeners are opened. */
  opened(all: readonly Certificates[]): void {
    this.#all = all
  }

  /** The check `certificates` of readiness: none is loaded yet, or one is about to expire. */
  readonly check = (): void => {
    const why = this.#all.map(({ whyNotReady }) => whyNotReady).find((each) => each !== undefined)
    if (why !== undefined) throw new Error(why)
  }

  metrics(words: MetricWords, wall: number): readonly MetricFamily[] {
    const validities = [...oneForEach(this.#all.flatMap((one) => one.validities))]
    const gauge = (numberOf: (validity: PairValidity) => number): Pick<MetricFamily, 'type' | 'samples'> => ({
      type: 'gauge',
      samples: validities.map((validity) => ({ labels: { certificate: validity.from }, value: numberOf(validity) })),
    })
    return [
      { ...words.certificateNotAfter, ...gauge(({ notAfter }) => notAfter / 1_000) },
      { ...words.certificateExpiry, ...gauge(({ notAfter }) => Math.floor((notAfter - wall) / 1_000)) },
      {
        ...words.certificateLoads,
        type: 'counter',
        samples: validities.flatMap(({ from: certificate, loads, failures }) => [
          { labels: { certificate, result: 'success' }, value: loads },
          { labels: { certificate, result: 'error' }, value: failures },
        ]),
      },
      {
        ...words.handshakeErrors,
        type: 'counter',
        samples: [{ labels: {}, value: this.#all.reduce((sum, { handshakeErrors }) => sum + handshakeErrors, 0) }],
      },
    ]
  }
}

/** Several listeners may have one certificate, and a metric has a sample of each name once. */
const oneForEach = (validities: readonly PairValidity[]): Iterable<PairValidity> =>
  new Map(validities.map((validity) => [validity.from, validity])).values()
