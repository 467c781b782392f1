export const about = { name: 'http-terminator', packages: ['http-terminator'], hooks: {}, job: 'stop', place: 40 }

export async function start(plan, { listen, hooks, pause }, ready) {
  const { createHttpTerminator } = await import('http-terminator')
  const { server, port } = await listen()
  const terminator = createHttpTerminator({ server, gracefulTerminationTimeout: plan.graceMs })
  let stopping = false
  const stop = async () => {
    if (stopping) return
    stopping = true
    await pause()
    await terminator.terminate()
    for (const { run } of hooks('cleanup')) await run()
    process.exit(0)
  }
  process.on('SIGTERM', stop)
  ready({ port, handle: terminator, controls: { stop: () => void stop() } })
}

export async function misuse({ createServer }) {
  const { createHttpTerminator } = await import('http-terminator')
  createHttpTerminator({ server: await createServer(), gracefulTerminationTimeout: 'soon' })
}
