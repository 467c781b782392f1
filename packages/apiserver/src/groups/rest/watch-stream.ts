import { safeJson } from '../../encoding/json.ts'
import { failureStatus } from '../../status.ts'
import type { Failure } from '../../status-errors.ts'
import type { ApiObject } from '../api-object.ts'
import { orderedMeta } from '../object-meta.ts'
import type { StorageEvent, StorageWatch } from '../storage/storage.ts'
import { type OutputForm, objectAs } from './output.ts'
import type { RestRequest } from './rest-request.ts'

type FrameType = 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR'

/** Events that wait for a client to read. With one more, its watch ends: it can watch again. */
const WAITING_MAX = 1_000

/** How often a watch without events is told how far it is. */
const BOOKMARK_MS = 60_000

/** The bookmark behind which there is nothing more of what was there at the beginning. */
const INITIAL_EVENTS_END = { annotations: { 'k8s.io/initial-events-end': 'true' } }

interface StreamOptions {
  /** Undefined: the client knows what is there. */
  readonly initial: readonly ApiObject[] | undefined
  readonly allowsBookmarks: boolean
  /** Whether a bookmark ends what is there at the beginning: it was asked for by name. */
  readonly marksInitial: boolean
}

/**
 * The answer to one watch: frames of JSON, a line each. What its client does not read waits here,
 * up to a bound. An event is encoded once for all streams of one form.
 */
export class WatchStream {
  readonly #rest: RestRequest
  readonly #output: OutputForm
  /** The same for all streams that show an object in the same way. */
  readonly #form: string
  readonly #options: StreamOptions
  readonly #waiting: (readonly [FrameType, StorageEvent])[] = []
  #initialAt = 0
  #isInitialOver: boolean
  #isFirst = true
  #isBlocked = false
  #isEnded = false
  #watch: StorageWatch | undefined
  #timer: unknown

  constructor(rest: RestRequest, output: OutputForm, options: StreamOptions) {
    this.#rest = rest
    this.#output = output
    this.#form = `${output.form} ${output.apiVersion} ${output.include}`
    this.#options = options
    this.#isInitialOver = options.initial === undefined
  }

  /** Sends the head at once: a client waits for it. Resolves when the stream has ended. */
  open(): Promise<void> {
    const { response, exchange, world } = this.#rest
    response.statusCode = 200
    response.setHeader('Content-Type', this.#output.type)
    response.flushHeaders()
    const { signal } = exchange
    const { allowsBookmarks } = this.#options
    return new Promise((resolve) => {
      const bookmark = (): void => {
        this.#timer = world.clock.setTimeout(bookmark, BOOKMARK_MS)
        this.#bookmark()
      }
      const stop = (): void => this.#finish()
      response.on('drain', this.#resume)
      response.once('close', () => {
        signal.removeEventListener('abort', stop)
        response.off('drain', this.#resume)
        this.#isEnded = true
        this.#watch?.close()
        world.clock.clearTimeout(this.#timer)
        resolve()
      })
      if (allowsBookmarks) this.#timer = world.clock.setTimeout(bookmark, BOOKMARK_MS)
      if (signal.aborted) stop()
      else signal.addEventListener('abort', stop, { once: true })
    })
  }

  /** Follows a watch, which gives its events to {@link give} from now on. */
  follow(watch: StorageWatch): void {
    this.#watch = watch
    if (this.#isEnded) watch.close()
    else this.#pump()
  }

  give(type: FrameType, event: StorageEvent): void {
    if (this.#isEnded) return
    this.#waiting.push([type, event])
    if (this.#waiting.length > WAITING_MAX) this.end()
    else this.#pump()
  }

  /** The last frame says why there are no more. */
  fail(failure: Failure): void {
    if (this.#isEnded) return
    this.#send('ERROR', failureStatus(failure))
    this.end()
  }

  /** Ends with what was sent so far; what waits is not sent. */
  end(): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.#watch?.close()
    this.#rest.response.end()
  }

  /** Its turn has come: what waits is sent, and how far that is. */
  #finish(): void {
    if (this.#isEnded) return
    if (this.#isInitialOver) {
      for (const [type, event] of this.#waiting.splice(0)) this.#sendEvent(type, event)
      this.#bookmark()
    }
    this.end()
  }

  readonly #resume = (): void => {
    this.#isBlocked = false
    this.#pump()
  }

  #pump(): void {
    if (this.#watch === undefined) return
    const { initial = [], marksInitial } = this.#options
    while (!this.#isBlocked && !this.#isEnded) {
      if (this.#initialAt < initial.length) this.#send('ADDED', this.#formed(initial[this.#initialAt++] as ApiObject))
      else if (!this.#isInitialOver) {
        this.#isInitialOver = true
        if (marksInitial) this.#bookmark(INITIAL_EVENTS_END)
      } else {
        const next = this.#waiting.shift()
        if (next === undefined) return
        this.#sendEvent(...next)
      }
    }
  }

  #sendEvent(type: FrameType, event: StorageEvent): void {
    if (this.#isFirst) {
      this.#send(type, this.#formed(shownBy(type, event)))
      return
    }
    const frames = framesOf(event, this.#form)
    frames[type] ??= Buffer.from(frame(type, this.#formed(shownBy(type, event))))
    this.#write(frames[type])
  }

  /** Sends a bookmark, when everything before it was sent. */
  #bookmark(meta: object = {}): void {
    if (!this.#options.allowsBookmarks || this.#watch === undefined || this.#isEnded) return
    if (!this.#isInitialOver || this.#waiting.length > 0) return
    const { kind, apiVersion } = this.#rest.resource
    const metadata = { ...meta, resourceVersion: this.#watch.resourceVersion }
    // It has no name: it is no object, and only has the form of one.
    this.#send('BOOKMARK', this.#formed({ kind, apiVersion, metadata: metadata as ApiObject['metadata'] }))
  }

  #formed(object: ApiObject): object {
    const hasColumns = this.#isFirst
    this.#isFirst = false
    return objectAs(this.#rest, this.#output, object, hasColumns)
  }

  #send(type: FrameType, object: object): void {
    this.#write(frame(type, object))
  }

  #write(piece: string | Buffer): void {
    if (!this.#rest.response.write(piece)) this.#isBlocked = true
  }
}

/**
 * The object of a frame. A client that does not want the new one any more is shown the last one
 * that it wanted, with the version of the change: of what it may not select it sees nothing. No
 * other stream has a deletion of that event, which it may share its frames with.
 */
function shownBy(type: FrameType, { type: change, object, previous }: StorageEvent): ApiObject {
  if (type !== 'DELETED' || change === 'DELETED' || previous === undefined) return object
  const { resourceVersion } = object.metadata
  return { ...previous, metadata: orderedMeta({ ...previous.metadata, ...(resourceVersion !== undefined && { resourceVersion }) }) }
}

type Frames = Partial<Record<FrameType, Buffer>>

/**
 * Frames of an event by form, as long as the event is there: as bytes, so that no stream encodes
 * them again.
 */
const ENCODED = new WeakMap<StorageEvent, Map<string, Frames>>()

function framesOf(event: StorageEvent, form: string): Frames {
  let forms = ENCODED.get(event)
  if (forms === undefined) {
    forms = new Map()
    ENCODED.set(event, forms)
  }
  let frames = forms.get(form)
  if (frames === undefined) {
    frames = {}
    forms.set(form, frames)
  }
  return frames
}

const frame = (type: FrameType, object: object): string => `${safeJson({ type, object })}\n`
