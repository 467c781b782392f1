export const about = {
  name: 'http-graceful-shutdown',
  packages: ['http-graceful-shutdown'],
  hooks: { before: 'one', cleanup: 'one' },
  delay: 'by hand',
  signals: true,
  job: 'stop',
  place: 42,
}

export async function start(plan, { listen, hooks, pause }, ready) {
  const { default: gracefulShutdown } = await import('http-graceful-shutdown')
  const { server, port } = await listen()
  const all = (kind) => async (given) => {
    for (const { run } of hooks(kind)) await run(given)
  }
  const stop = gracefulShutdown(server, {
    timeout: (plan.delayMs ?? 0) + plan.graceMs,
    preShutdown: async (signal) => {
      await all('before')(signal)
      await pause()
    },
    onShutdown: all('cleanup'),
  })
  ready({ port, handle: stop, controls: { stop: () => void stop() } })
}

export async function misuse({ createServer }) {
  const { default: gracefulShutdown } = await import('http-graceful-shutdown')
  gracefulShutdown(await createServer(), { timeout: 'soon' })
}
