import nodeCluster from 'node:cluster'
import type { LifecycleEvent } from '../base/events.ts'
import { variable } from '../base/look.ts'
import { NotifySocket } from './notify-socket.ts'
import type { FollowedLife, PlatformProcess } from './platform.ts'

/** How often it is said that a stop goes on. */
const TICK_MS = 5_000
/** A stop that has come no further for so long asks for no more time. */
const STUCK_MS = 30_000
/** The time for which systemd is asked: of three messages two may be late. */
const EXTEND_USEC = String(3 * TICK_MS * 1_000)

/** The lives of a process that serve: it is stopping when the last of them is. */
const serving = new WeakMap<PlatformProcess, Set<FollowedLife>>()

/**
 * Tells systemd how a life goes on: what it is doing (STATUS), that it stops (STOPPING), that it
 * needs more time than TimeoutStopSec as long as something still ends (EXTEND_TIMEOUT_USEC), and
 * that the event loop turns (WATCHDOG, at half of WatchdogSec). What cannot be told is logged once,
 * and changes nothing else. Of a cluster the primary is told of: systemd would end all workers when
 * one of them says that it stops.
 * @see https://www.freedesktop.org/software/systemd/man/latest/sd_notify.html
 */
export function followForSystemd(process: PlatformProcess, life: FollowedLife): void {
  if (nodeCluster.isWorker) return
  const socket = NotifySocket.of(process)
  if (socket) new SystemdService(process, socket, life).begin()
}

class SystemdService {
  readonly #process: PlatformProcess
  readonly #socket: NotifySocket
  readonly #life: FollowedLife
  readonly #urls: string[] = []
  readonly #watchdogMs: number | undefined
  #isOver = false
  #isSaid = false
  #movedAt = 0
  #inFlight = 0
  #status = ''

  constructor(process: PlatformProcess, socket: NotifySocket, life: FollowedLife) {
    this.#process = process
    this.#socket = socket
    this.#life = life
    this.#watchdogMs = watchdogMs(process)
  }

  begin(): void {
    const lives = serving.get(this.#process) ?? new Set()
    serving.set(this.#process, lives.add(this.#life))
    this.#life.subscribe((event) => this.#heard(event))
    if (this.#watchdogMs !== undefined) this.#every(this.#watchdogMs, () => this.#notify({ WATCHDOG: '1' }))
  }

  #heard(event: LifecycleEvent): void {
    this.#movedAt = event.at
    if (event.type === 'listening' && !event.admin) this.#urls.push(event.url)
    if (event.type === 'signal' && event.name === 'Serving')
      this.#say(this.#urls.length > 0 ? `serving on ${this.#urls.join(', ')}` : 'serving')
    if (event.type === 'signal' && event.name === 'StopRequested') this.#stopping()
    if (event.type === 'ended') {
      this.#isOver = true
      // The log is closed: a failure has no place to be said.
      this.#socket.sendLast({ STATUS: `ended with exit code ${event.exitCode}` }).catch(() => {})
      serving.get(this.#process)?.delete(this.#life)
    }
  }

  #stopping(): void {
    const lives = serving.get(this.#process)
    lives?.delete(this.#life)
    this.#notify({ ...(lives?.size === 0 && { STOPPING: '1' }), EXTEND_TIMEOUT_USEC: EXTEND_USEC, STATUS: 'stopping' })
    this.#every(TICK_MS, () => this.#goesOn())
  }

  #goesOn(): void {
    const look = this.#life.look()
    if (!look) return
    if (look.inFlight < this.#inFlight) this.#movedAt = look.at
    this.#inFlight = look.inFlight
    if (look.at - this.#movedAt < STUCK_MS) this.#notify({ EXTEND_TIMEOUT_USEC: EXTEND_USEC })
    this.#say(`stopping: ${look.headline}`)
  }

  #say(status: string): void {
    if (status === this.#status) return
    this.#status = status
    this.#notify({ STATUS: status })
  }

  #notify(fields: Readonly<Record<string, string>>): void {
    this.#socket.send(fields).catch((error: Error) => {
      if (this.#isSaid || this.#isOver) return
      this.#isSaid = true
      this.#life.record({ type: 'warning', message: `systemd could not be notified of the server's state: ${error.message}` })
    })
  }

  /** Repeats some work until the end of the life; keeps no process alive. */
  #every(periodMs: number, work: () => void): void {
    const timer = this.#life.clock.setTimeout(() => {
      if (this.#isOver) return
      work()
      this.#every(periodMs, work)
    }, periodMs)
    ;(timer as { unref?: () => void }).unref?.()
  }
}

/** Half of the time after which systemd takes the process for hung; undefined when it does not. */
function watchdogMs({ env, pid }: PlatformProcess): number | undefined {
  const [usec, addressee] = [variable(env, 'WATCHDOG_USEC'), variable(env, 'WATCHDOG_PID')]
  const ms = Math.floor(Number(usec) / 2_000)
  return ms > 0 && (addressee === undefined || Number(addressee) === pid) ? ms : undefined
}
