import type { Socket } from 'node:net'
import { setImmediate } from 'node:timers'
import { override } from '../../base/override.ts'
import type { TrafficPort } from '../transport.ts'

/** The requests of one connection that wait for those that came with them, oldest first. */
interface Gathering {
  readonly passes: Set<() => void>
  /** Lets its socket's end be heard as ever. */
  readonly over: () => void
}

const onSockets = new WeakMap<Socket, Gathering>()

/**
 * Has a request gather with others, until `letGoOn` lets it pass, or its client ends its side:
 * nothing can come behind that, and node breaks off what is not answered as soon as it hears of it.
 * Node hears of it a turn later than else: without us, a handler that answers after an `await` has
 * the time between the read of its request and that of the end.
 */
export function gather(socket: Socket, pass: () => void, letGoOn: TrafficPort['letGoOn']): void {
  const gathering = onSockets.get(socket) ?? standBeforeEnd(socket)
  const { passes, over } = gathering
  passes.add(pass)
  letGoOn(() => {
    if (!passes.delete(pass)) return
    if (passes.size === 0) over()
    pass()
  })
}

function standBeforeEnd(socket: Socket): Gathering {
  const emit = socket.emit as (event: string | symbol, ...args: unknown[]) => boolean
  const passes = new Set<() => void>()
  const restore = override(socket, 'emit', ((event: string | symbol, ...args: unknown[]) => {
    if (event !== 'end') return emit.call(socket, event, ...args)
    over()
    const { allowHalfOpen } = socket
    // A socket of TLS would end our side right behind this event.
    socket.allowHalfOpen = true
    setImmediate(() => {
      socket.allowHalfOpen = allowHalfOpen
      // One that is destroyed by now has had its 'close', which says more.
      if (socket.destroyed) return
      emit.call(socket, event)
      if (!allowHalfOpen) socket.end()
    })
    for (const pass of passes) {
      passes.delete(pass)
      pass()
    }
    return true
  }) as Socket['emit'])
  const over = (): void => {
    onSockets.delete(socket)
    restore()
  }
  const gathering = { passes, over }
  onSockets.set(socket, gathering)
  return gathering
}
