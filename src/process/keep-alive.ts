import { MessageChannel } from 'node:worker_threads'

/**
 * Keeps the process alive until then, as a listening server does: a port that is waited at is no
 * timer, which would have to be renewed.
 */
export function keepAliveUntil(end: AbortSignal): void {
  if (end.aborted) return
  const { port1 } = new MessageChannel()
  port1.ref()
  end.addEventListener('abort', () => port1.close(), { once: true })
}
