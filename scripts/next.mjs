// @ts-check
// `npm run test:next`: Next.js with a custom server, which is larger than everything else here and
// therefore installed into a temporary folder, without its install scripts. Builds an application
// there, and has the suite of the recipes run over it. The last line is that of `npm test`.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const PACKAGES = ['next@16', 'react@19', 'react-dom@19']

/** A page that the server renders, a route that waits for SIGUSR2, and an event stream. */
const APPLICATION = {
  'package.json': '{ "private": true }\n',
  'next.config.mjs': `export default {
  rewrites: () => [
    { source: '/slow', destination: '/api/slow' },
    { source: '/events', destination: '/api/events' },
  ],
}
`,
  'pages/index.js': `export const getServerSideProps = () => ({ props: { text: 'hello' } })
export default function Page({ text }) {
  return text
}
`,
  'pages/api/slow.js': `import { writeSync } from 'node:fs'
export default async function slow(_, response) {
  const signal = new Promise((resolve) => process.once('SIGUSR2', resolve))
  writeSync(2, 'arrived\\n')
  await signal
  response.send('done')
}
`,
  'pages/api/events.js': `export default async function events(request, response) {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.write('data: first\\n\\n')
  await new Promise((resolve) => request.shutdownSignal().addEventListener('abort', resolve))
  response.end('event: last\\ndata: bye\\n\\n')
}
`,
}

const folder = mkdtempSync(join(tmpdir(), 'quiesce-next-'))

/** @param {string} command @param {readonly string[]} args @param {import('node:child_process').SpawnSyncOptions} options */
function run(command, args, options) {
  const { status } = spawnSync(command, args, { stdio: 'inherit', ...options })
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: exit code ${status}`)
}

try {
  for (const [name, text] of Object.entries(APPLICATION)) {
    mkdirSync(join(folder, name, '..'), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
  const env = { ...process.env, NEXT_TELEMETRY_DISABLED: '1' }
  run('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', ...PACKAGES], { cwd: folder, env })
  run(process.execPath, ['node_modules/next/dist/bin/next', 'build'], { cwd: folder, env })
  run(process.execPath, ['scripts/test.mjs', 'test/recipes', '-t', 'Next.js'], {
    env: { ...env, NEXT_FOLDER: folder, RESULTS_DIR: '.results/next' },
  })
} catch (error) {
  console.error(String(error))
  process.exitCode = 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}
