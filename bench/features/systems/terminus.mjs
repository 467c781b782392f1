export const about = {
  name: '@godaddy/terminus',
  packages: ['@godaddy/terminus'],
  hooks: { before: 'one', cleanup: 'one' },
  delay: 'by hand',
  health: true,
  checks: true,
  signals: true,
  place: 20,
}

export async function start(plan, { listen, hooks, pause, note }, ready) {
  const { createTerminus } = await import('@godaddy/terminus')
  const { server, port } = await listen()
  // It has one function for each point: more than one is called by hand, one after the other.
  const all = (kind) => async (given) => {
    for (const { run } of hooks(kind)) await run(given)
  }
  const checks = plan.leak
    ? { '/a': async () => ({ secretA: 1 }), '/b': async () => ({ b: 1 }), verbatim: true }
    : { '/live': async () => {}, '/ready': async () => {} }
  if (plan.checkNever) checks['/never'] = () => new Promise(() => {})
  createTerminus(server, {
    timeout: plan.graceMs,
    healthChecks: checks,
    beforeShutdown: async () => {
      await all('before')()
      await pause()
    },
    onSignal: all('cleanup'),
    logger: (message) => note('log', { message: String(message) }),
  })
  ready({ port, handle: server, health: { live: '/live', ready: '/ready', never: '/never' } })
}

export async function misuse({ createServer }) {
  const { createTerminus } = await import('@godaddy/terminus')
  createTerminus(await createServer(), { timeout: 'soon' })
}
