// A worker of a queue, without a server of its own: the jobs that it has taken are done before it
// ends. Health is answered on a port beside it.
//   node worker.mjs & sleep 2; curl localhost:9090/readyz; kill -TERM %1; wait
import { setTimeout as sleep } from 'node:timers/promises'
import { createLife } from 'quiesce'

const life = createLife({ admin: { port: Number(process.env.PORT ?? 9090) }, logger: false })

let jobs = 0
const taking = setInterval(() => {
  jobs += 1
  const job = `job-${jobs}`
  console.log(`${job} taken`)
  life.hold(job, async ({ signal }) => {
    await sleep(1_500, undefined, { signal }) // the signal aborts when the deadline cuts the job
    console.log(`${job} done`)
  })
}, 500)

life.addPreShutdownHook('take-no-more', () => clearInterval(taking))
life.addDestroy('queue', async () => {}) // runs when all jobs are done
await life.run()
