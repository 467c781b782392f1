// @ts-check
// `npm run fuzz:apiserver`: malformed and hostile requests at an API server with every filter on, in
// a process of its own (test/fuzz). It must not crash, hang, or tell one client what another has
// sent; every answer must be a right one, and what is private must not be reached.
//
//   --seconds 60     how long
//   --seed 123       the requests of an earlier run, which printed its seed
//   --only 4711      one request of it, by the number that was printed with what was wrong
import { spawnSync } from 'node:child_process'
import { attackFor } from '../test/fuzz/play.mjs'
import { Target } from '../test/fuzz/target.mjs'
import { givenArguments, wholeNumber } from './usage.mjs'

const { values } = givenArguments({
  options: {
    seconds: { type: 'string', default: '60' },
    seed: { type: 'string', default: String(Math.trunc(Math.random() * 2 ** 31)) },
    only: { type: 'string' },
  },
})
const seed = wholeNumber('--seed', values.seed)
const ms = wholeNumber('--seconds', values.seconds) * 1000
const only = values.only === undefined ? undefined : wholeNumber('--only', values.only)

const build = spawnSync(process.execPath, ['scripts/build.mjs'], { stdio: 'inherit' })
if (build.status !== 0) throw new Error('the build has errors (above)')
console.log(`node ${process.versions.node}; seed ${seed}, again with: npm run fuzz:apiserver -- --seed ${seed}`)
const target = await Target.start()
let failures = 0
const counts = await attackFor({
  ports: target.ports,
  seed,
  ms,
  ...(only !== undefined && { only }),
  failed: ({ kind, number, wrong, sent, received }) => {
    failures++
    console.log(`FAILED ${number} (${kind}): ${wrong}\n  sent ${sent}\n  received ${received}`)
  },
})
const { report, wrong } = await target.stop()
for (const [kind, count] of counts) console.log(`${String(count).padStart(6)} ${kind}`)
for (const line of wrong) console.log(`FAILED ${line}`)
await target.dispose()
failures += wrong.length
const sum = [...counts.values()].reduce((all, count) => all + count, 0)
console.log(`${sum} requests, ${failures} failed; audit events: ${JSON.stringify(report?.audit)}`)
process.exitCode = failures === 0 && sum > 0 ? 0 : 1
