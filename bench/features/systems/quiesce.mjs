import { freePort } from '../../../test/support/free-port.mjs'

export const about = {
  name: 'quiesce',
  packages: [],
  hooks: { start: 'many', before: 'many', cleanup: 'many' },
  delay: 'option',
  health: true,
  checks: true,
  signals: true,
  place: 1,
}

export async function start(plan, { createServer, handler, webSockets, hooks, note }, ready) {
  const { attachLifecycle, shutdownSignalOf, loopbackHeaders, renderReport } = await import('../../../dist/index.js')
  const adminPort = plan.admin ? await freePort() : undefined
  const aborter = new AbortController()
  const context = { onShutdown: (request, end) => shutdownSignalOf(request).addEventListener('abort', end, { once: true }) }
  const server = await createServer((request, response) => handler(request, response, context))
  webSockets(server)
  const life = attachLifecycle(server, {
    health: true,
    metrics: true,
    ...(adminPort && { admin: { port: adminPort } }),
    signal: aborter.signal,
    ...(plan.byPlatform ? {} : { shutdownDelay: plan.delayMs ?? 0, deadline: plan.totalMs }),
    ...(plan.late && { whileDraining: 'retry-after', exempt: ['/free'] }),
    ...(plan.hookMs && { hookTimeout: plan.hookMs }),
    ...(plan.options ?? {}),
    logger: plan.logger
      ? Object.fromEntries(['debug', 'info', 'warn', 'error'].map((level) => [level, (...given) => note('log', { level, given })]))
      : false,
  })
  for (const { name, run } of hooks('start')) life.addPostStartHook(name, run)
  for (const { name, run, after } of hooks('before')) life.addPreShutdownHook(name, (given) => run(given.reason), { after })
  for (const { name, run } of hooks('cleanup')) life.addDestroy(name, (given) => run(given.reason))
  if (plan.leak) {
    life.addReadyzCheck('a', () => {
      throw new Error('secretA')
    })
    life.addReadyzCheck('b', () => {})
  }
  if (plan.checkNever) life.addReadyzCheck('never', () => new Promise(() => {}))
  if (plan.muxMs) life.addMuxCompleteSignal('routes', new Promise((resolve) => setTimeout(resolve, plan.muxMs)))
  life.signal('HasBeenReady').addEventListener('abort', () => note('has been ready'))
  life.events$.subscribe((event) => event.type === 'signal' && note('signal', { name: event.name }))
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve()))
  const controls = {
    stop: () => void life.stop('a reason of mine'),
    notReady: () => life.setReady(false, 'by hand'),
    ready: () => life.setReady(true),
    hold: () => void life.hold('a job', () => new Promise((resolve) => setTimeout(resolve, 900))),
    abort: () => void setTimeout(() => aborter.abort(), 20),
    uninstall: () => life.releaseProcess(),
    counts: () => life.counts(),
  }
  const listening = {
    port: server.address().port,
    health: { live: '/livez', ready: '/readyz', never: '/readyz', a: '/readyz/a', b: '/readyz/b', port: adminPort },
    controls,
    handle: life,
    context,
    loopback: loopbackHeaders,
  }
  const ended = life.run()
  const serving = life.signal('Serving')
  if (!serving.aborted) await new Promise((resolve) => serving.addEventListener('abort', () => resolve(), { once: true }))
  ready(listening)
  const report = await ended
  note('report', { report, printed: renderReport(report) })
}

export async function misuse({ createServer }) {
  const { attachLifecycle } = await import('../../../dist/index.js')
  attachLifecycle(await createServer(), { deadline: 'soon' })
}
