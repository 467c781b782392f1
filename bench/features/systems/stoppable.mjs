export const about = { name: 'stoppable', packages: ['stoppable'], hooks: {}, job: 'stop', place: 41 }

export async function start(plan, { listen, hooks, pause, note }, ready) {
  const { default: stoppable } = await import('stoppable')
  const { server, port } = await listen()
  const stopped = stoppable(server, plan.graceMs)
  let stopping = false
  const stop = async () => {
    if (stopping) return
    stopping = true
    await pause()
    stopped.stop(async (_error, gracefully) => {
      note('report', { report: { gracefully } })
      for (const { run } of hooks('cleanup')) await run()
      process.exit(0)
    })
  }
  process.on('SIGTERM', stop)
  ready({ port, handle: stopped, controls: { stop: () => void stop() } })
}

export async function misuse({ createServer }) {
  const { default: stoppable } = await import('stoppable')
  stoppable(await createServer(), 'soon')
}
