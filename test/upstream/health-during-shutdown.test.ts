// What probes see while a server ends: liveness green, so that nobody restarts what is draining, and readiness red, so that
// nobody sends it more. On the main listener as long as the mode keeps it ("Probes"), on the admin listener until the end.
// Fails when: readiness turns red late or green again, liveness turns red, a probe is refused like a request or waits for the
// drain, or the admin listener closes with the main one.
import { describe, expect, onTestFinished } from 'vitest'
import type { WhileDraining } from '../../src/options.ts'
import { row } from '../support/row.ts'
import { fresh, POLL, REFUSED } from '../support/upstream-client.ts'
import { DELAY_MS, DONE, Roadblock, serveUpstream } from '../support/upstream-server.ts'

/** How often a prober asks, in real milliseconds, and how many of its probes make a phase of the drain. */
const PROBE_MS = 50
const PROBES_PER_PHASE = 4

const PATHS = ['/livez', '/readyz'] as const
type Path = (typeof PATHS)[number]
type Target = 'main' | 'admin'
type Phase = 'serving' | 'delay' | 'hook' | 'drain' | 'audit' | 'destroy' | 'over'

interface Probe {
  readonly target: Target
  readonly path: Path
  /** The phase in which it began, and the one in which it was answered. */
  readonly began: Phase
  readonly ended: Phase
  /** A status, or the code of an error. */
  readonly outcome: number | string
}

/** Asks every 50 ms, each time on new connections, whether the last probes have been answered or not. */
class Prober {
  phase: Phase = 'serving'
  readonly probes: Probe[] = []
  readonly #ports: Readonly<Record<Target, number>>
  readonly #timer: NodeJS.Timeout

  constructor(ports: Readonly<Record<Target, number>>) {
    this.#ports = ports
    this.#timer = setInterval(() => this.#probeAll(), PROBE_MS)
    onTestFinished(() => clearInterval(this.#timer))
  }

  /** Goes on in `phase` until everything has been probed often enough in it. */
  async through(phase: Phase): Promise<void> {
    this.phase = phase
    const within = (): number => this.probes.filter(({ began, ended }) => began === phase && ended === phase).length
    await expect.poll(within, POLL).toBeGreaterThanOrEqual(2 * PATHS.length * PROBES_PER_PHASE)
  }

  /** Which outcomes each phase had, as `/livez` and `/readyz`, of the probes that began and ended in it. */
  seen(target: Target): Record<string, [(number | string)[], (number | string)[]]> {
    const outcomes = (phase: Phase, path: Path): (number | string)[] => {
      const probes = this.probes.filter((probe) => probe.target === target && probe.path === path)
      return [...new Set(probes.flatMap(({ began, ended, outcome }) => (began === phase && ended === phase ? [outcome] : [])))]
    }
    const phases = [...new Set(this.probes.map(({ began }) => began))]
    return Object.fromEntries(phases.map((phase) => [phase, [outcomes(phase, '/livez'), outcomes(phase, '/readyz')]]))
  }

  /** Outcomes of the probes that were under way while a phase ended. */
  between(target: Target): (number | string)[] {
    return this.probes.flatMap((probe) => (probe.target === target && probe.began !== probe.ended ? [probe.outcome] : []))
  }

  #probeAll(): void {
    for (const target of ['main', 'admin'] as const) for (const path of PATHS) void this.#probe(target, path)
  }

  async #probe(target: Target, path: Path): Promise<void> {
    const began = this.phase
    const outcome = await fresh(this.#ports[target], path).then(
      ({ status }) => status,
      ({ code, message }: NodeJS.ErrnoException) => code ?? message,
    )
    this.probes.push({ target, path, began, ended: this.phase, outcome })
  }
}

const GREEN = [[200], [200]]
const DRAINING = [[200], [500]]
const NOBODY = [['ECONNREFUSED'], ['ECONNREFUSED']]

const MODES: readonly { readonly mode: WhileDraining; readonly mainWhileDraining: unknown }[] = [
  { mode: 'refuse', mainWhileDraining: NOBODY },
  { mode: 'retry-after', mainWhileDraining: DRAINING },
]

describe.each(MODES)('while draining: $mode', ({ mode, mainWhileDraining }) => {
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

    expect(prober.seen('admin')).toEqual({
      serving: GREEN,
      delay: DRAINING,
      hook: DRAINING,
      drain: DRAINING,
      audit: DRAINING,
      destroy: DRAINING,
      over: NOBODY,
    })
    expect(prober.seen('main')).toEqual({
      serving: GREEN,
      delay: DRAINING,
      hook: DRAINING,
      drain: mainWhileDraining,
      audit: NOBODY,
      destroy: NOBODY,
      over: NOBODY,
    })
    // A connection that waits to be accepted when its listener closes is reset by the system.
    const atAClosing = [200, 500, 'ECONNREFUSED', 'ECONNRESET']
    for (const target of ['main', 'admin'] as const) expect(atAClosing).toEqual(expect.arrayContaining(prober.between(target)))

    expect(await Promise.all([plain, watch])).toMatchObject([DONE, DONE])
    // Probes are no requests that anybody refuses or waits for.
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
