import { type ChildProcess, spawn } from 'node:child_process'
import nodeCluster from 'node:cluster'
import { createInterface } from 'node:readline'
import { systemClock } from '../base/clock.ts'
import { formatDuration } from '../base/duration.ts'
import { toError } from '../base/errors.ts'
import { variable } from '../base/look.ts'
import type { PlatformProcess } from './platform.ts'

/** Longest time `systemd-notify` may take for a message; it writes one datagram. */
const ANSWER_TIMEOUT_MS = 2_000

/**
 * Sends each line that it reads as a message of the process that it is given, whose fields are
 * apart by tabs; answers with what went wrong, and a line with a full stop. It ends with its
 * standard input, and by no signal: a service manager sends its signals to every process of the
 * service, and a process that is gone takes no answer to what it has said last.
 */
const SCRIPT = `
trap '' TERM INT HUP PIPE
set -f
IFS='\t'
while read -r message; do
  set -- $message
  if why=$(systemd-notify \${0:+"--pid=$0"} "$@" 2>&1); then why=; else why="exit code $? \${why}"; fi
  printf '%s\\n.\\n' "$why"
done
`

type Fields = Readonly<Record<string, string>>

interface Message {
  readonly fields: Fields
  readonly sent: () => void
  readonly failed: (error: Error) => void
}

const sockets = new WeakMap<PlatformProcess, NotifySocket>()

/**
 * The socket in NOTIFY_SOCKET, to which node cannot write: it has no datagrams in the file system.
 * A shell that lives as long as the process runs systemd's own tool for every message; starting the
 * tool from here would hold the event loop up each time, the longer the more memory the process
 * has. What is to be said while a message is on its way is said together in the next one.
 */
export class NotifySocket {
  readonly #process: PlatformProcess
  #helper: ChildProcess | undefined
  #waiting: Message[] = []
  /** What was written together, the oldest first; more than one only behind the final output. */
  #underWay: (readonly Message[])[] = []
  #why = ''
  #timer: NodeJS.Timeout | undefined

  /** The socket of a process that a service manager listens to. */
  static of(process: PlatformProcess): NotifySocket | undefined {
    if (!variable(process.env, 'NOTIFY_SOCKET')) return undefined
    const known = sockets.get(process) ?? new NotifySocket(process)
    sockets.set(process, known)
    return known
  }

  private constructor(process: PlatformProcess) {
    this.#process = process
  }

  /**
   * Resolves when the service manager has read it. Aborted, it is not waited for any more, and the
   * tool is ended.
   * @throws Error with what the tool says
   */
  async send(fields: Fields, signal?: AbortSignal): Promise<void> {
    const takeBack = (): void => this.#giveUp(signal?.reason)
    signal?.addEventListener('abort', takeBack, { once: true })
    try {
      await this.#say(fields, () => this.#underWay.length === 0)
    } finally {
      signal?.removeEventListener('abort', takeBack)
    }
  }

  /**
   * Does as {@link send}, but writes at once, behind what is on its way: the process may be gone
   * before that is answered.
   */
  sendLast(fields: Fields): Promise<void> {
    return this.#say(fields, () => true)
  }

  #say(fields: Fields, isNow: () => boolean): Promise<void> {
    return new Promise((sent, failed) => {
      this.#waiting.push({ fields, sent, failed })
      if (isNow()) this.#write()
    })
  }

  #write(): void {
    const messages = this.#waiting
    this.#waiting = []
    this.#underWay.push(messages)
    if (this.#underWay.length === 1) this.#awaitAnswer()
    const fields = Object.assign({}, ...messages.map((message) => message.fields)) as Fields
    const line = Object.entries(fields).map(([name, value]) => `${name}=${value}`.replace(/\p{Cc}+/gu, ' '))
    this.#open().stdin?.write(`${line.join('\t')}\n`)
  }

  #awaitAnswer(): void {
    this.#why = ''
    this.#timer = systemClock.setTimeout(
      () => this.#giveUp(new Error(`no answer within ${formatDuration(ANSWER_TIMEOUT_MS)}`)),
      ANSWER_TIMEOUT_MS,
    ) as NodeJS.Timeout
    this.#timer.unref()
  }

  #open(): ChildProcess {
    if (this.#helper) return this.#helper
    const { env, pid } = this.#process
    // With its id, the tool makes it the main process of the service: that is the primary.
    const speaker = nodeCluster.isWorker ? '' : String(pid)
    const helper = spawn('/bin/sh', ['-c', SCRIPT, speaker], { env, stdio: ['pipe', 'pipe', 'ignore'], detached: true })
    const gone = (error?: Error): void => {
      if (this.#helper === helper) this.#giveUp(error ?? new Error('/bin/sh has ended'))
    }
    helper.once('error', gone)
    helper.once('exit', () => gone())
    helper.stdin.on('error', gone)
    createInterface({ input: helper.stdout }).on('line', (text) => this.#heard(text))
    // The process does not live for it.
    helper.unref()
    for (const stream of [helper.stdin, helper.stdout]) (stream as unknown as { unref(): void }).unref()
    this.#helper = helper
    return helper
  }

  #heard(text: string): void {
    if (text !== '.') this.#why += this.#why === '' ? text : ` ${text}`
    else this.#settle(1, this.#why === '' ? undefined : new Error(this.#why.trim()))
  }

  /** The next message gets a new shell. */
  #giveUp(error: unknown): void {
    const helper = this.#helper
    this.#helper = undefined
    killGroup(helper?.pid)
    this.#settle(this.#underWay.length, toError(error))
  }

  #settle(count: number, error: Error | undefined): void {
    systemClock.clearTimeout(this.#timer)
    for (const { sent, failed } of this.#underWay.splice(0, count).flat()) {
      if (error) failed(error)
      else sent()
    }
    if (this.#underWay.length > 0) this.#awaitAnswer()
    else if (this.#waiting.length > 0) this.#write()
  }
}

/** Kills the process with the tool that it may be waiting for. */
function killGroup(pid: number | undefined): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // It has ended.
  }
}
