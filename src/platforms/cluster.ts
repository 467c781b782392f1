import nodeCluster, { type Worker } from 'node:cluster'
import type { PlatformSpec } from './platform.ts'

/**
 * What writing to a primary fails with that is gone, before and after its channel is known to be
 * closed.
 */
const LOST = ['EPIPE', 'ECONNRESET', 'ERR_IPC_CHANNEL_CLOSED']

/**
 * The process is a worker of `node:cluster`, wherever it runs: the end of its channel to the
 * primary is the end of that, or its wish. Node ends such a worker at once, with 0, unless it has
 * left its cluster voluntarily: so it has, from that moment on. What the program or node itself
 * still writes to the channel is no crash then, to the end of the process.
 *
 * A process that was forked without a cluster goes on without its parent, as node lets it: a parent
 * may disconnect on purpose.
 */
export const cluster = {
  stopRequests: (host, stop) => {
    const { worker } = nodeCluster
    if (host !== process || !worker) return { [Symbol.dispose]: () => {} }
    const onDisconnect = (): void => {
      worker.exitedAfterDisconnect = true
      stop({ kind: 'disconnected' })
    }
    // Told before node decides.
    worker.on('disconnect', onDisconnect)
    outliveChannel(worker)
    return { [Symbol.dispose]: () => void worker.off('disconnect', onDisconnect) }
  },
} as const satisfies Pick<PlatformSpec, 'stopRequests'>

const outlived = new WeakSet<Worker>()

/**
 * Node hands on here what its channel emits as errors at the process. Without another listener, any
 * other error is a crash, as without us.
 */
function outliveChannel(worker: Worker): void {
  if (outlived.has(worker)) return
  outlived.add(worker)
  worker.on('error', (error: NodeJS.ErrnoException) => {
    if (!LOST.includes(error.code ?? '') && worker.listenerCount('error') === 1) throw error
  })
}
