// What Node's documentation has: `server.close()` on SIGTERM.
export const about = { name: 'node:http', packages: [], hooks: {}, job: 'core', place: 10 }

export async function start(_plan, { listen, hooks, pause }, ready) {
  const { server, port } = await listen()
  let stopping = false
  process.on('SIGTERM', async () => {
    if (stopping) return
    stopping = true
    await pause()
    server.close(async () => {
      for (const { run } of hooks('cleanup')) await run()
      process.exit(0)
    })
  })
  ready({ port, handle: server })
}

export async function misuse() {
  const { createServer } = await import('node:http')
  createServer({ keepAliveTimeout: 'soon' })
}
