export const about = {
  name: 'Effect, @effect/platform-node',
  packages: ['effect', '@effect/platform-node'],
  hooks: { start: 'many', cleanup: 'many' },
  signals: true,
  ordering: 'a layer is released before those that it is provided with',
  untried: {
    21: 'a fiber can be interrupted; its fixture does not',
    25: 'an effect can be run with a signal; its fixture is not',
    27: 'its fixture does not interrupt the main fiber',
    35: 'layers are ordered; named hooks are none',
    42: 'how layers are merged decides; its fixture provides one after the other',
    49: 'a fiber can be part of a scope; its fixture starts none',
  },
  place: 45,
}

export async function start(plan, { handler, hooks, createServer, webSockets, note }, ready) {
  const [{ Effect, Layer }, { HttpServer, HttpServerRequest, HttpServerResponse }, { NodeHttpServer, NodeHttpServerRequest, NodeRuntime }] =
    await Promise.all([import('effect'), import('effect/http'), import('@effect/platform-node')])
  const server = await createServer()
  const app = Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    const [node, response] = [NodeHttpServerRequest.toIncomingMessage(request), NodeHttpServerRequest.toServerResponse(request)]
    yield* Effect.promise(() => handler(node, response))
    if (!response.writableEnded) yield* Effect.promise(() => new Promise((resolve) => response.once('close', resolve)))
    return HttpServerResponse.empty()
  })
  webSockets(server)
  const resource = ({ name, run }) =>
    Layer.effectDiscard(
      Effect.acquireRelease(
        Effect.sync(() => note(`${name} acquired`)),
        () => Effect.promise(() => run()),
      ),
    )
  const starts = hooks('start').map(({ name, run }) =>
    Layer.effectDiscard(
      Effect.acquireRelease(
        Effect.tryPromise(() => run()),
        () => Effect.sync(() => note(`undo ${name}`)),
      ),
    ),
  )
  const said = Layer.effectDiscard(Effect.sync(() => ready({ port: server.address().port })))
  const serving = HttpServer.serve(app).pipe(
    Layer.merge(said),
    Layer.provide(NodeHttpServer.layer(() => server, { port: 0, host: '127.0.0.1', gracefulShutdownTimeout: plan.graceMs })),
  )
  // What is provided is released later: the cleanup comes after the server.
  const layers = [...starts, ...hooks('cleanup').map(resource)].reduceRight((above, below) => above.pipe(Layer.provide(below)), serving)
  Layer.launch(layers).pipe(NodeRuntime.runMain)
}

export async function misuse({ createServer }) {
  const { NodeHttpServer } = await import('@effect/platform-node')
  const server = await createServer()
  NodeHttpServer.layer(() => server, { port: 0, gracefulShutdownTimeout: 'soon' })
}
