// What probes see while a server ends: liveness green, so that what is draining is not restarted,
// and readiness red, so that it is sent no more. On the main listener as long as the mode keeps
// it ("Probes"), on the admin listener until the end. Fails when (all tried): readiness is not tied
// to ShutdownInitiated or turns red after the delay, liveness turns red with it, the main listener
// closes early or late for its mode, the drain forgets a request, or the admin listener closes with
// the main one.
import { describe, expect, onTestFinished } from 'vitest'
import type { Mode } from '#src/machines/wiring.ts'
import { row } from '../support/row.ts'
import { fresh, POLL, REFUSED } from '../support/upstream-client.ts'
import { DELAY_MS, DONE, Roadblock, serveUpstream } from '../support/upstream-server.ts'

/**
 * How often a prober asks, in real milliseconds, and how many of its probes each phase of the drain
 * has to last.
 */
const PROBE_MS = 50
const PROBES_PER_PHASE = 4

const PATHS = ['/livez', '/readyz'] as const
const TARGETS = ['main', 'admin'] as const
type Target = (typeof TARGETS)[number]

/**
 * A life from a prober's point of view. Between two phases something is under way that only its end
 * tells apart.
 */
const PHASES = ['serving', 'delay', 'hook', 'drain', 'audit', 'destroy', 'over'] as const
type Phase = (typeof PHASES)[number]
const during = (phase: Phase): number => 2 * PHASES.indexOf(phase)
const after = (phase: Phase): number => during(phase) + 1

interface Probe {
  readonly target: Target
  readonly path: (typeof PATHS)[number]
  /** Where the life stood when it began, and when it was answered. */
  readonly began: number
  readonly ended: number
  /** A status, or the code of an error. */
  readonly outcome: number | string
}

/**
 * Asks every 50 ms, each time on new connections, whether the last probes have been answered or
 * not.
 */
class Prober {
  readonly probes: Probe[] = []
  readonly #ports: Readonly<Record<Target, number>>
  #step = during('serving')

  constructor(ports: Readonly<Record<Target, number>>) {
    this.#ports = ports
    const timer = setInterval(() => this.#probeAll(), PROBE_MS)
    onTestFinished(() => clearInterval(timer))
  }

  /** Goes on in `phase` until everything has been probed often enough in it. */
  async through(phase: Phase): Promise<void> {
    this.#step = during(phase)
    const within = (): number => this.probes.filter(({ began, ended }) => began === this.#step && ended === this.#step).length
    await expect.poll(within, POLL).toBeGreaterThanOrEqual(TARGETS.length * PATHS.length * PROBES_PER_PHASE)
    this.#step = after(phase)
  }

  #probeAll(): void {
    for (const target of TARGETS) for (const path of PATHS) void this.#probe(target, path)
  }

  async #probe(target: Target, path: Probe['path']): Promise<void> {
    const began = this.#step
    const outcome = await fresh(this.#ports[target], path).then(
      ({ status }) => status,
      ({ code, message }: NodeJS.ErrnoException) => code ?? message,
    )
    this.probes.push({ target, path, began, ended: this.#step, outcome })
  }
}

/** Whether a probe got what it had to get, on a listener that closes at the end of phase `last`. */
function isRight({ path, began, ended, outcome }: Probe, last: Phase): boolean {
  const closing = after(last)
  if (began > closing) return outcome === 'ECONNREFUSED'
  // A connection that waits to be accepted when its listener closes is reset by the system.
  if (ended >= closing && ['ECONNREFUSED', 'ECONNRESET', 'EPIPE'].includes(outcome as string)) return true
  const stopping = after('serving')
  if (path === '/livez' || ended < stopping) return outcome === 200
  return outcome === 500 || (began <= stopping && outcome === 200)
}

/** The last phase in which the main listener is open. */
const MODES: readonly { readonly mode: Mode; readonly mainLast: Phase }[] = [
  { mode: 'refuse', mainLast: 'hook' },
  { mode: 'retry-after', mainLast: 'drain' },
]

describe.each(MODES)('while draining: $mode', ({ mode, mainLast }) => {
  row(['HZ-25', 'HZ-26'], `probed every ${PROBE_MS} ms on new connections through the whole drain (${mode})`, async () => {
    const destroying = new Roadblock()
    onTestFinished(() => destroying.release())
    const server = await serveUpstream({
      options: { whileDraining: mode, admin: { port: 0 } },
      prepare: ({ life }) => life.addDestroy('pool', () => destroying.pass()),
    })
    const { plain, watch } = await server.inFlight()
    const prober = new Prober({ main: server.port, admin: server.adminPort })
    await prober.through('serving')

    server.stop()
    await server.fired('ShutdownInitiated')
    await prober.through('delay')
    await server.clock.advance(DELAY_MS)
    await prober.through('hook')
    server.hook.release()
    await server.fired(mode === 'refuse' ? 'HTTPServerStoppedListening' : 'NotAcceptingNewRequest')
    await prober.through('drain')
    for (const block of [server.plain, server.watch]) block.release()
    await Promise.all([server.fired('HTTPServerStoppedListening'), server.audit.shuttingDown.reached])
    await prober.through('audit')
    server.audit.shuttingDown.release()
    await destroying.reached
    await prober.through('destroy')
    destroying.release()
    const report = await server.endNow()
    await prober.through('over')

    const lastPhase = { main: mainLast, admin: 'destroy' } as const
    expect(prober.probes.filter((probe) => !isRight(probe, lastPhase[probe.target]))).toEqual([])
    expect(await Promise.all([plain, watch])).toMatchObject([DONE, DONE])
    // Probes are not refused, and not waited for.
    expect(report).toMatchObject({ exitCode: 0, requests: { before: 1, after: 0 }, rejections: { 'retry-after': 0, 'not-accepting': 0 } })
  })

  row(['HZ-25', 'HZ-26', 'HZ-27', 'HZ-28'], `what the endpoints say in the delay and in the drain (${mode})`, async () => {
    const server = await serveUpstream({ options: { whileDraining: mode, admin: { port: 0 } } })
    await server.inFlight()
    const expectDraining = async (port: number): Promise<void> => {
      for (const path of ['/livez', '/healthz', '/readyz?exclude=shutdown'])
        expect(await fresh(port, path)).toMatchObject({ status: 200, body: 'ok' })
      expect(await fresh(port, '/readyz?verbose')).toMatchObject({
        status: 500,
        body: '[+]ping ok\n[+]log ok\n[-]shutdown failed: reason withheld\nreadyz check failed\n',
      })
      expect(await fresh(port, '/readyz/shutdown')).toMatchObject({
        status: 500,
        body: 'internal server error: process is shutting down\n',
      })
      expect(await fresh(port, '/readyz/ping')).toMatchObject({ status: 200, body: 'ok' })
    }
    server.stop()
    await server.fired('ShutdownInitiated')
    await Promise.all([server.port, server.adminPort].map(expectDraining))

    await server.clock.advance(DELAY_MS)
    server.hook.release()
    await server.fired(mode === 'refuse' ? 'HTTPServerStoppedListening' : 'NotAcceptingNewRequest')
    await expectDraining(server.adminPort)
    if (mode === 'retry-after') await expectDraining(server.port)
    else await expect(fresh(server.port, '/livez')).rejects.toEqual(REFUSED)
  })
})
