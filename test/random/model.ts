/** What is done to connections, as data: it is printed when a sequence fails, and shrinks. */
export type Action = { readonly do: 'open' } | { readonly do: 'next' } | { readonly do: 'advance' } | OnPeer

/** `on` counts the connections that are open. */
export type OnPeer =
  | { readonly do: 'arrive'; readonly on: number; readonly as: 'request' | 'watch' }
  | { readonly do: 'half' | 'rest' | 'upgrade' | 'reply'; readonly on: number }
  | { readonly do: 'answer'; readonly on: number; readonly which: number }
  | { readonly do: 'leave'; readonly on: number; readonly how: 'end' | 'reset' }

/** The steps of a stop, in the order in which they come. */
export const STEPS = ['initiate', 'tell', 'stop accepting', 'drain', 'tell watches', 'close idle', 'cut watches', 'destroy'] as const
export type Step = (typeof STEPS)[number]

export interface Asked {
  readonly id: number
  readonly as: 'request' | 'watch' | 'refused'
  isAnswered: boolean
  tells: boolean
}

export interface Peer {
  asked: Asked[]
  /** The number of the request of which half was sent. */
  half: number | undefined
  isUsed: boolean
  /** No second has passed since it was opened. */
  isYoung: boolean
  isUpgraded: boolean
  isOpen: boolean
  wasNotified: boolean
  /** Its turn has come when it was opened: it is told after its first answer. */
  isBrokenOff: boolean
  /** What its client has seen. */
  answers: number
  sawNotified: boolean
}

const FATES = { notified: 0, idleUnnotified: 0, ended: 0, forced: 0 }

/**
 * What has to be counted, said in the shortest way: of HTTP/1.1, whose answers are in order, of
 * HTTP/2, whose are not, and of what is upgraded.
 */
export class Model {
  readonly peers: Peer[] = []
  readonly fates = { ...FATES }
  readonly rejected = { 'retry-after': 0, 'not-accepting': 0, watch: 0, late: 0, hold: 0 }
  readonly #isInOrder: boolean
  #stepsTaken = 0
  #ids = 0
  #hasDrained = false

  constructor(isInOrder: boolean) {
    this.#isInOrder = isInOrder
  }

  has(step: Step): boolean {
    return STEPS.indexOf(step) < this.#stepsTaken
  }

  open(): void {
    this.peers.push({
      asked: [],
      half: undefined,
      isUsed: false,
      isYoung: true,
      isUpgraded: false,
      isOpen: true,
      wasNotified: false,
      isBrokenOff: false,
      answers: 0,
      sawNotified: false,
    })
  }

  sendHalf(peer: Peer): number {
    peer.half = this.#ids++
    return peer.half
  }

  /** The number under which its handler has it, if one gets it. */
  arrive(peer: Peer, as: 'request' | 'watch'): number {
    const id = peer.half ?? this.#ids++
    peer.half = undefined
    peer.isUsed = true
    // A stream above the number of the GOAWAY is dropped by node, and its client knows that.
    if (peer.wasNotified) this.rejected.late += this.#isInOrder ? 1 : 0
    else if (this.has('stop accepting')) {
      this.rejected[as === 'watch' ? 'watch' : 'not-accepting']++
      peer.asked.push({ id, as: 'refused', isAnswered: false, tells: true })
      this.answer(peer, id)
    } else peer.asked.push({ id, as, isAnswered: false, tells: false })
    return id
  }

  answer(peer: Peer, id: number): void {
    const one = peer.asked.find((asked) => asked.id === id) as Asked
    one.isAnswered = true
    if (this.#isInOrder) one.tells = peer.asked.at(-1) === one && (one.tells || this.has('tell'))
    if (one.tells) peer.wasNotified = true
    this.#send(peer)
  }

  upgrade(peer: Peer): void {
    this.arrive(peer, 'watch')
    peer.isUpgraded = peer.isOpen
    if (peer.isUpgraded) peer.answers++
  }

  leave(peer: Peer): void {
    this.#close(peer, peer.isBrokenOff ? 'forced' : peer.wasNotified ? 'notified' : 'ended')
  }

  next(): Step {
    const step = STEPS[this.#stepsTaken++] as Step
    for (const peer of this.peers) {
      if (!peer.isOpen) continue
      if (step === 'tell' && !this.#isInOrder) peer.wasNotified = peer.sawNotified = true
      if (step === 'tell watches' && peer.isUpgraded) peer.wasNotified = peer.sawNotified = true
      if (step === 'close idle' && !(this.#isInOrder && peer.isYoung && !peer.isUsed && peer.half !== undefined)) this.#closeIfIdle(peer)
      if (step === 'cut watches') this.#cutWatches(peer)
      if (step === 'destroy') this.#close(peer, peer.wasNotified && peer.asked.length === 0 ? 'notified' : 'forced')
    }
    return step
  }

  /** A second passes: so long a client of HTTP/2 may take to leave, and half of a first request. */
  advance(): void {
    for (const peer of this.peers) {
      peer.isYoung = false
      if (!peer.isOpen || peer.asked.length > 0) continue
      if (peer.wasNotified) this.#close(peer, 'notified')
      else if (this.has('close idle')) this.#closeIfIdle(peer)
    }
  }

  get counts() {
    const open = this.peers.filter(({ isOpen }) => isOpen)
    const count = (as: Asked['as']): number => open.flatMap(({ asked }) => asked).filter((one) => one.as === as).length
    const requests = count('request')
    this.#hasDrained ||= this.has('drain') && requests === 0
    return {
      requests,
      // Watches are declared by their handler here, and requests are none.
      eventStreams: 0,
      watches: count('watch'),
      holds: 0,
      connections: {
        open: open.length,
        notified: open.filter(({ wasNotified }) => wasNotified).length,
        idle: open.filter(({ asked }) => asked.length === 0).length,
      },
      rejected: this.rejected,
      fates: this.fates,
      hasDrained: this.#hasDrained,
      answers: this.peers.map(({ answers }) => answers),
      sawNotified: this.peers.map(({ sawNotified }) => sawNotified),
    }
  }

  #send(peer: Peer): void {
    const isSent = (one: Asked, index: number): boolean =>
      this.#isInOrder ? peer.asked.slice(0, index + 1).every(({ isAnswered }) => isAnswered) : one.isAnswered
    const sent = peer.asked.filter(isSent)
    peer.asked = peer.asked.filter((one) => !sent.includes(one))
    peer.answers += sent.length
    peer.sawNotified ||= sent.some(({ tells }) => tells)
    if (peer.asked.length > 0 || sent.length === 0) return
    if (peer.isBrokenOff) this.#close(peer, 'forced')
    else if (this.#isInOrder && peer.wasNotified) this.#close(peer, 'notified')
    else if (this.has('close idle')) this.#closeIfIdle(peer)
  }

  #closeIfIdle(peer: Peer): void {
    if (peer.asked.length > 0 || peer.wasNotified) return
    // It is told, and has a second to leave.
    if (!this.#isInOrder) peer.wasNotified = peer.sawNotified = true
    else this.#close(peer, 'idleUnnotified')
  }

  #cutWatches(peer: Peer): void {
    const first = peer.asked.findIndex(({ as, isAnswered }) => as === 'watch' && !isAnswered)
    if (first < 0) return
    if (!this.#isInOrder) {
      peer.asked = peer.asked.filter(({ as }) => as !== 'watch')
      this.#closeIfIdle(peer)
    } else if (first === 0) this.#close(peer, 'forced')
    else {
      peer.asked = peer.asked.slice(0, first)
      peer.isBrokenOff = true
    }
  }

  #close(peer: Peer, fate: keyof typeof FATES): void {
    peer.isOpen = false
    peer.asked = []
    if (this.has('initiate')) this.fates[fate]++
  }
}
