import { type Attributes, type Context, context, diag, type Span, SpanStatusCode, type Tracer, trace } from '@opentelemetry/api'
import { checkArguments, LIFE_ALLOWED, withFields, withOptions } from '../base/arguments.ts'
import type { ErrorRecord, LifecycleEvent, StopReason } from '../base/events.ts'
import { nameWithProtocol, type ProtocolFates } from '../base/protocol.ts'
import type { Life } from '../lifecycle/life.ts'
import { exitCodeMeaning } from '../machines/exit-codes.ts'
import { hookKey, phaseOfHook, WAITED_FOR_BY } from '../report/view.ts'

export interface TraceOptions {
  /** Default: the tracer `quiesce` of the global provider. */
  readonly tracer?: Tracer
  /** The parent of the root span. Default: the active context. */
  readonly parent?: Context
}

const NAMES_MAX = 20

/**
 * Traces a life: a root span from here to its end, a span for each phase that runs and for each
 * hook in it, and lifecycle signals as events of the root span. To be called before `run()` or
 * `start()`; what has begun earlier has no span.
 *
 * It only listens: it waits for nothing, keeps no process alive, and a tracer that throws ends the
 * tracing, not the life. Exporting what is traced is the business of the provider: flush it after
 * `run()`, or in a destroy function.
 *
 * @returns disposed of, it ends every open span now and listens no more; a second time it does
 * nothing
 * @example
 * traceLifecycle(life)
 * await life.run()
 */
export function traceLifecycle(life: Pick<Life, 'events$'>, options: TraceOptions = {}): Disposable {
  checkArguments(
    'traceLifecycle(life, options?)',
    [life, withFields(LIFE_ALLOWED, 'events$')],
    [options, withOptions<TraceOptions>('tracer', 'parent')],
  )
  const { tracer = trace.getTracer('quiesce'), parent = context.active() } = options
  const spans = new LifeSpans(tracer, parent)
  const guarded = (step: () => void): void => {
    try {
      step()
    } catch (thrown) {
      subscription.unsubscribe()
      diag.error('quiesce: tracing stopped, because the tracer failed', thrown)
    }
  }
  const subscription = life.events$.subscribe((event) => guarded(() => spans.fold(event)))
  subscription.add(() => guarded(() => spans.endAll()))
  return { [Symbol.dispose]: () => guarded(() => subscription.unsubscribe()) }
}

class LifeSpans {
  readonly #tracer: Tracer
  readonly #root: Span
  readonly #inRoot: Context
  readonly #phases = new Map<string, Span>()
  readonly #hooks = new Map<string, Span>()
  #isOver = false
  /** The exit code of a process that ended before its life. */
  #exitedWith: number | undefined

  constructor(tracer: Tracer, parent: Context) {
    this.#tracer = tracer
    this.#root = tracer.startSpan('quiesce lifecycle', {}, parent)
    this.#inRoot = trace.setSpan(parent, this.#root)
  }

  fold(event: LifecycleEvent): void {
    const root = this.#root
    switch (event.type) {
      case 'signal':
        root.addEvent(event.name, { 'quiesce.outcome': event.outcome, ...reasonAttributes(event.reason) })
        if (event.reason) root.setAttributes(reasonAttributes(event.reason))
        break
      case 'phase.started':
        this.#phases.set(event.phase, this.#start(`phase ${event.phase}`, { 'quiesce.phase.name': event.phase }, this.#inRoot))
        break
      case 'phase.ended':
        this.#end(this.#phases, event.phase, event.outcome, event.error)
        break
      case 'hook.started': {
        const { kind, name } = event
        const phase = this.#phases.get(phaseOfHook(event))
        const inPhase = phase ? trace.setSpan(this.#inRoot, phase) : this.#inRoot
        const attributes = { 'quiesce.hook.kind': kind, 'quiesce.hook.name': name }
        this.#hooks.set(hookKey(event), this.#start(`${kind} hook ${name}`, attributes, inPhase))
        break
      }
      case 'hook.ended':
        this.#end(this.#hooks, hookKey(event), event.outcome, event.error)
        break
      case 'listening':
        root.addEvent('listening', {
          'server.address': event.address,
          'server.port': event.port,
          'quiesce.admin': event.admin,
          ...(event.inspector && { 'quiesce.inspector': true }),
        })
        break
      case 'last-call':
        this.#phases.get('last-call')?.setAttributes({
          'quiesce.last_call.accepted': event.accepted,
          'quiesce.last_call.answered': event.answered,
        })
        break
      case 'drained':
        this.#phases.get(event.what === 'requests' ? WAITED_FOR_BY.request : WAITED_FOR_BY.watch)?.setAttributes({
          'quiesce.drain.before': event.before,
          'quiesce.drain.after': event.after,
          'quiesce.drain.cut': event.cut.slice(0, NAMES_MAX).map(nameWithProtocol),
        })
        break
      case 'connections':
        this.#phases.get(WAITED_FOR_BY.connection)?.setAttributes({
          'quiesce.connections.notified': event.notified,
          'quiesce.connections.idle_unnotified': event.idleUnnotified,
          'quiesce.connections.ended': event.ended,
          'quiesce.connections.forced': event.forced,
          ...(event.byProtocol && { 'quiesce.connections.by_protocol': event.byProtocol.map(fatesText) }),
          ...(event.lastRequestMs !== undefined && { 'quiesce.connections.last_request_ms': event.lastRequestMs }),
        })
        break
      case 'mux-signal':
        root.addEvent('mux-complete signal', { 'quiesce.mux_signal.name': event.name, 'quiesce.mux_signal.state': event.state })
        break
      case 'late':
        root.addEvent('settled after its deadline', {
          'quiesce.what': event.what,
          'quiesce.answer': event.answer,
          'quiesce.late_ms': event.lateMs,
        })
        break
      case 'error':
        root.addEvent('exception', { 'quiesce.where': event.where, ...exceptionAttributes(event.error) })
        break
      case 'warning':
        root.addEvent('warning', { 'quiesce.message': event.message })
        break
      case 'certificate':
        root.addEvent('certificate', { 'quiesce.what': event.what, 'quiesce.from': event.from })
        break
      case 'forced':
        root.addEvent('forced', { 'quiesce.why': event.why })
        this.#exitedWith ??= event.exitCode
        break
      case 'ended':
        root.setAttribute('process.exit.code', this.#exitedWith ?? event.exitCode)
        if (event.exitCode !== 0) root.setStatus({ code: SpanStatusCode.ERROR, message: exitCodeMeaning(event.exitCode) })
        this.endAll()
        break
      case 'platform':
      case 'handlers':
      case 'stopped-listening':
        break
      default:
        event satisfies never
    }
  }

  /** Children first, so that no span ends before one that it holds. */
  endAll(): void {
    if (this.#isOver) return
    this.#isOver = true
    for (const span of [...this.#hooks.values(), ...this.#phases.values(), this.#root]) span.end()
  }

  #start(name: string, attributes: Attributes, inContext: Context): Span {
    return this.#tracer.startSpan(name, { attributes }, inContext)
  }

  #end(spans: Map<string, Span>, key: string, outcome: string, error: ErrorRecord | undefined): void {
    const span = spans.get(key)
    if (!span) return
    spans.delete(key)
    span.setAttribute('quiesce.outcome', outcome)
    if (error) {
      span.recordException(error)
      span.setAttribute('error.type', error.code ?? error.name)
    }
    if (outcome === 'failed') span.setStatus({ code: SpanStatusCode.ERROR, ...(error && { message: error.message }) })
    span.end()
  }
}

/** `HTTP/2 TLSv1.3: 12 open, 11 notified, 0 closed idle, 0 ended, 1 forced` */
const fatesText = ({ protocol, tls, open, notified, idleUnnotified, ended, forced }: ProtocolFates): string =>
  `${protocol} ${tls}: ${open} open, ${notified} notified, ${idleUnnotified} closed idle, ${ended} ended, ${forced} forced`

const reasonAttributes = (reason: StopReason | undefined): Attributes =>
  reason ? { 'quiesce.stop.reason': reason.kind, ...(reason.kind === 'os-signal' && { 'quiesce.stop.os_signal': reason.signal }) } : {}

/**
 * The attributes as semantic conventions name them.
 * @see https://opentelemetry.io/docs/specs/semconv/exceptions/
 */
const exceptionAttributes = ({ name, message, stack }: ErrorRecord): Attributes => ({
  'exception.type': name,
  'exception.message': message,
  ...(stack !== undefined && { 'exception.stacktrace': stack }),
})
