// ASP.NET Core, built when it is needed: ../dotnet.
import { buildDotnet } from '../build-dotnet.mjs'
import { begin, GRACE_MS, HUNG_MS, TOTAL_MS } from '../lives.mjs'
import { Life, until } from '../observe.mjs'
import { no, partly } from '../verdicts.mjs'

const PACKAGE = 'that is another package, which could not be had where this ran'

export const about = {
  name: 'ASP.NET Core',
  packages: [],
  hooks: { start: 'many', before: 'many', cleanup: 'many' },
  delay: 'by hand',
  health: true,
  checks: true,
  signals: true,
  job: 'program',
  rows: [
    1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40,
    41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 61, 62, 63, 64, 65, 66, 67, 69, 71, 72, 73, 84, 85, 88, 91,
    92, 93,
  ],
  untried: { 11: PACKAGE, 84: PACKAGE, 85: PACKAGE },
  async own(name) {
    const looks = { 2: startTimeout, 37: shutdownTimeout, 42: together }
    const found = {}
    for (const [row, look] of Object.entries(looks)) found[row] = await look(name)
    return found
  },
  prepare: buildDotnet,
  place: 65,
}

/** Its timeouts cancel a token that each hook is given: what hooks that heed it get, and others. */
async function startTimeout(name) {
  const one = { name: 'one', never: true }
  const endOf = async (hook) => {
    const life = new Life(name, { graceMs: GRACE_MS, totalMs: TOTAL_MS, hookMs: 1000, start: [hook] })
    await until(() => life.event('one begins') ?? life.exit, 30_000)
    life.signalledAt = Date.now()
    return life.ended(6000)
  }
  return byToken('a start hook that never ends', await endOf({ ...one, heeds: true }), await endOf(one))
}

async function shutdownTimeout(name) {
  const one = { name: 'one', never: true }
  const endOf = async (hook) => {
    const life = await begin(name, { cleanup: [hook, { name: 'two' }] })
    life.signal()
    return life.ended(HUNG_MS)
  }
  return byToken('a hook that never ends, with 4 s for all', await endOf({ ...one, heeds: true }), await endOf(one))
}

const byToken = (what, heeding, other) => {
  const evidence = `${what}: ${other.text}; one that heeds its CancellationToken: ${heeding.text}`
  return heeding.hung ? no(evidence) : partly(evidence)
}

/** By an option, for all hooks. */
async function together(name) {
  const hooks = ['one', 'two'].map((hook) => ({ name: hook, ms: 300 }))
  const begins = async (plan) => {
    const life = await begin(name, { cleanup: hooks, ...plan })
    life.signal()
    await life.ended(HUNG_MS)
    return life.at('two begins') < life.at('one ends')
  }
  const [byDefault, byOption] = [await begins({}), await begins({ together: true })]
  return !byDefault && byOption ? partly('hooks run one after the other, or by an option all at once') : no('hooks run in one way')
}
