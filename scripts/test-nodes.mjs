// @ts-check
// `npm run test:nodes`: both suites on the other supported Node versions, from npm's `node` package,
// so that nothing is installed by hand. `-- 22` picks versions, further arguments go to the suite:
// `npm run test:nodes -- 24 test/sockets test/processes`.
import { spawnSync } from 'node:child_process'

const args = process.argv.slice(2)
const isVersion = (/** @type {string} */ arg) => /^\d+(\.\d+)*$/.test(arg)
const chosen = args.filter(isVersion)
const versions = chosen.length > 0 ? chosen : ['22', '24', '26']
const rest = args.filter((arg) => !isVersion(arg))
/** What the arguments of scripts/test.mjs are, and where its results go. */
const suites =
  rest.length > 0
    ? [{ given: rest, folder: '' }]
    : [
        { given: [], folder: '' },
        { given: ['--e2e'], folder: '-e2e' },
      ]

for (const version of versions)
  for (const { given, folder } of suites) {
    // npx puts this node first on PATH: the processes that tests start use it too.
    const { status } = spawnSync('npx', ['-y', '-p', `node@${version}`, '--', 'node', 'scripts/test.mjs', ...given], {
      stdio: 'inherit',
      env: { ...process.env, RESULTS_DIR: `.results/node-${version}${folder}` },
    })
    console.log(`node ${version}${folder}: ${status === 0 ? 'passed' : 'FAILED'}\n`)
    if (status !== 0) process.exitCode = 1
  }
