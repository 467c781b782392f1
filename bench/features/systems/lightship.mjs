// It runs what is registered and ends no server by itself; http-terminator, of the same author, does.
export const about = {
  name: 'lightship, http-terminator',
  packages: ['lightship', 'http-terminator'],
  hooks: { start: 'gate', cleanup: 'many' },
  delay: 'option',
  health: true,
  signals: true,
  place: 30,
}

export async function start(plan, { listen, hooks, note }, ready) {
  const [{ createLightship }, { createHttpTerminator }] = await Promise.all([import('lightship'), import('http-terminator')])
  const lightship = await createLightship({
    detectKubernetes: plan.byPlatform === true,
    port: 0,
    ...(!plan.byPlatform && { shutdownDelay: plan.delayMs ?? 0 }),
    gracefulShutdownTimeout: plan.totalMs,
    shutdownHandlerTimeout: plan.totalMs,
  })
  const { server, port } = await listen()
  const terminator = createHttpTerminator({ server, gracefulTerminationTimeout: plan.graceMs })
  lightship.registerShutdownHandler(() => terminator.terminate())
  for (const { run } of hooks('cleanup')) lightship.registerShutdownHandler(run)
  void lightship.whenFirstReady().then(() => note('has been ready'))
  ready({
    port,
    handle: lightship,
    health: { live: '/live', ready: '/ready', port: lightship.server.address().port },
    controls: {
      stop: () => void lightship.shutdown(),
      notReady: () => lightship.signalNotReady(),
      ready: () => lightship.signalReady(),
      hold: () => {
        const beacon = lightship.createBeacon({ job: 'a beacon' })
        setTimeout(() => void beacon.die(), 900)
      },
    },
  })
  for (const { run } of hooks('start')) lightship.queueBlockingTask(run())
  lightship.signalReady()
}

export async function misuse() {
  const { createLightship } = await import('lightship')
  await createLightship({ port: 0, shutdownDelay: 'soon' })
}
