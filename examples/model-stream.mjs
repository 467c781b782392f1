// The streamed answer of a language model: it ends by itself, so the drain waits for its last token.
//   node model-stream.mjs & curl -N localhost:3000/v1/chat/completions & sleep 1; kill -TERM %1; wait
import { createServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { attachLifecycle, markRequest } from 'quiesce'

// Stands for the client of a model, which takes an AbortSignal.
async function* answerOfModel(signal) {
  for (const token of ['The', ' answer', ' is', ' whole', '.']) {
    yield token
    await sleep(400, undefined, { signal })
  }
}

const server = createServer(async (request, response) => {
  if (request.url !== '/v1/chat/completions') return void response.end('hello\n')
  const signal = markRequest(request) // aborts when the deadline cuts the request
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for await (const token of answerOfModel(signal)) response.write(`data: ${JSON.stringify({ token })}\n\n`)
  response.end('data: [DONE]\n\n')
})

// Room for the longest answer; the platform has to wait longer than that.
const life = attachLifecycle(server.listen(process.env.PORT ?? 3000), { health: true, deadline: '60s' })
await life.run()
