export const about = {
  name: 'fastify, close-with-grace',
  packages: ['fastify', 'avvio', 'close-with-grace'],
  hooks: { start: 'many', before: 'many', cleanup: 'many' },
  signals: true,
  place: 43,
}

export async function start(plan, { handler, hooks, pause, webSockets, note }, ready) {
  const [{ default: fastify }, { default: closeWithGrace }] = await Promise.all([import('fastify'), import('close-with-grace')])
  let make
  if (plan.http2) {
    const { readFileSync } = await import('node:fs')
    const of = (name) => readFileSync(new URL(`../../../test/fixtures/tls/${name}`, import.meta.url))
    make = { http2: true, https: { cert: of('cert.pem'), key: of('key.pem'), allowHTTP1: true } }
  }
  const app = fastify({ ...make, pluginTimeout: plan.hookMs })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _payload, done) => done(null))
  const controls = { stop: () => void handle.close(), uninstall: () => handle.uninstall(), timeline: () => app.printPlugins() }
  app.all('/*', (request, reply) => {
    reply.hijack()
    void handler(request.raw, reply.raw)
  })
  const undone = []
  for (const { name, run } of hooks('start'))
    app.register(async (instance) => {
      await run()
      instance.addHook('onClose', async () => note(`undo ${name}`))
      undone.push(name)
    })
  for (const { run } of hooks('before')) app.addHook('preClose', async () => run())
  for (const { run } of hooks('cleanup').reverse()) app.addHook('onClose', async () => run())
  webSockets(app.server)
  const aborter = new AbortController()
  controls.abort = () => void setTimeout(() => aborter.abort(), 20)
  const handle = closeWithGrace({ delay: (plan.delayMs ?? 0) + plan.totalMs }, async ({ signal, err, manual }) => {
    note('told', { given: JSON.stringify({ signal, err: err && String(err), manual }) })
    await pause()
    await app.close()
  })
  await app.listen({ port: 0, host: '127.0.0.1', signal: aborter.signal })
  ready({ port: app.server.address().port, controls, handle: app })
}

export async function misuse() {
  const [{ default: fastify }, { default: closeWithGrace }] = await Promise.all([import('fastify'), import('close-with-grace')])
  fastify({ pluginTimeout: 'soon' })
  closeWithGrace({ delay: 'soon' }, () => {})
}
