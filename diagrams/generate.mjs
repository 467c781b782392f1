// @ts-check
// `npm run generate`: writes what is derived from the code: the pictures of this folder from the
// machines, docs/options.md from the option table, docs/errors.md from the table of error codes, and
// docs/messages.md from all sources, docs/comparison.md and its pictures from what `npm run bench` has measured.
// With `--check` it fails when a file is stale instead.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { MODEL_ERROR_CODES } from '#model'
import { comparisonFiles } from '../bench/document.mjs'
import { batchesMachine } from '../build/packages/apiserver/src/audit/batches.js'
import { CHAIN_ORDER } from '../build/packages/apiserver/src/chain/order.js'
import { API_SERVER_OPTIONS, completeConfig, OF_THE_CHAIN } from '../build/packages/apiserver/src/config.js'
import { createApiServer, notFoundDelegate } from '../build/packages/apiserver/src/index.js'
import { electionMachine } from '../build/packages/apiserver/src/leases/election.js'
import { storeMachine } from '../build/packages/apiserver/src/store/store-machine.js'
import { ERROR_CODES } from '../build/src/base/errors.js'
import { WARNING_CODES } from '../build/src/base/warnings.js'
import { diagramsOf, elkLayout, machineSvg } from '../build/src/diagram/index.js'
import { PLACES } from '../build/src/http/chain.js'
import { createServer } from '../build/src/index.js'
import { planOf } from '../build/src/model/life/lifecycle-model.js'
import { markdownOf } from '../build/src/options/kit/markdown.js'
import { LIFECYCLE_OPTIONS } from '../build/src/options/rows/lifecycle.js'
import { LISTEN_OPTIONS } from '../build/src/options/rows/listeners.js'
import { STOP_OPTIONS } from '../build/src/options/stop-options.js'
import { frontsMarkdown, platformsMarkdown } from '../build/src/platforms/markdown.js'
import { terminal } from '../build/src/platforms/terminal.js'
import { messagesMarkdown } from '../scripts/messages.mjs'
import { drainSvg } from './drain/picture.mjs'
import { recordDrain } from './drain/record.mjs'

const check = process.argv.includes('--check')
const file = (/** @type {string} */ name) => fileURLToPath(new URL(`../${name}`, import.meta.url))

const MODES = /** @type {const} */ (['refuse', 'retry-after'])
const layout = await elkLayout()

/** A life with one hook, so that its region is there, and the times of one platform. */
const plans = MODES.map((whileDraining) => {
  const server = createServer({ listener: () => {} }, { logger: false, platform: 'kubernetes', whileDraining })
  server.addPostStartHook('warm-cache', () => {})
  return planOf(server)
})
const drawn = await Promise.all(
  plans.map(async (plan) => ({
    mode: plan.mode,
    svg: await diagramsOf(plan, { format: 'svg', layout }),
    mermaid: await diagramsOf(plan, { format: 'mermaid' }),
  })),
)
const textOf = (/** @type {readonly import('../build/src/diagram/index.js').Diagram[]} */ all, /** @type {string} */ name) =>
  all.find((diagram) => diagram.name === name)?.text ?? ''
const [first] = drawn

/** The same with a phase of the user's, for the picture of that. */
const ownPhase = { name: 'flush-queue', after: ['RequestsDrained'], before: ['destroy'], timeoutMs: 5_000 }
const withOwnPhase = plans[0] && (await diagramsOf({ ...plans[0], userPhases: [ownPhase] }, { format: 'svg', layout }))

/** What works beside the life. */
const besideLife = [
  await machineSvg(batchesMachine, {
    layout,
    notes: ['How audit events leave their queue as batches, and how that ends; cut leads from every state to abandoned'],
  }),
  await machineSvg(storeMachine, {
    layout,
    notes: ['How what keeps the objects of an API server opens, what it can do meanwhile, and how it closes'],
  }),
  await machineSvg(electionMachine, {
    layout,
    notes: ['How a candidate comes to lead, how long it does without a renewal, and how it gives the lease up'],
  }),
]

/** Three servers in a row, as kube-apiserver has them: what they have is the life of the outermost. */
function rowOfDelegates() {
  const config = completeConfig({ logger: false, platform: 'kubernetes' })
  const never = new Promise(() => {})
  const extensions = createApiServer(config, { name: 'extensions', delegate: notFoundDelegate() })
  extensions.addMuxCompleteSignal('definitions', never)
  extensions.addPostStartHook('start-informers', () => {})
  const core = createApiServer(config, { name: 'core', delegate: extensions })
  core.addMuxCompleteSignal('groups', never)
  core.addPreShutdownHook('leases', () => {})
  return createApiServer(config, { name: 'aggregator', delegate: core }).prepare().life
}
const ofDelegates = await diagramsOf(planOf(rowOfDelegates()), { format: 'mermaid' })

const fence = (/** @type {string} */ text) => `\`\`\`mermaid\n${text}\`\`\``
const perMode = (/** @type {(one: (typeof drawn)[number]) => string} */ section) =>
  drawn.map((one) => `## whileDraining: '${one.mode}'\n\n${section(one)}\n`).join('\n')

const wiring = `# The dependency graph

Generated from \`src/machines/wiring.ts\` by \`npm run generate\`; do not edit. A box does work, a rounded one only fires its signal (bold). An arrow is a
transition on the signal of its origin; a phase with several arrows waits for all of them. StopRequested skips what is left of the Start lane.

${perMode(({ mode, mermaid }) => `![Who waits for whom](wiring-${mode}.svg)\n\nThe same as Mermaid:\n\n${fence(textOf(mermaid, 'wiring'))}`)}`

const places = Object.entries(PLACES)
const chain = `# What a request passes

Generated from \`src/http/chain.ts\` by \`npm run generate\`; do not edit. Every request passes these steps in this order, before its handler;
each lets it pass or answers it. None waits. The option \`steps\` places further ones directly before or after any of them; without a place, after \`count\`.
When the response is closed, the steps that were asked hear of it in the reverse order.

${fence(`flowchart LR
  arrives(["request or upgrade"])
${places.map(([name, says]) => `  ${name}["<b>${name}</b><br/>${says}"]`).join('\n')}
  yours["<b>your steps</b>"]
  handler(["your handler"])
  ${['arrives', ...places.map(([name]) => name), 'yours', 'handler'].join(' --> ')}
`)}
`

const PARTS = /** @type {const} */ ({
  outer: 'before the refusals: these do not wait',
  between: 'between the two refusals: these do not wait',
  inner: 'counted: these may take time',
})
/** @typedef {import('../build/packages/apiserver/src/chain/filter.js').ChainPlace} ChainPlace */
const chainOrder = /** @type {readonly ChainPlace[]} */ (CHAIN_ORDER)
const apiNode = (/** @type {ChainPlace} */ { name, why }) => `${name}["<b>${name}</b><br/>${why}"]`
const apiEnds = chainOrder.flatMap(({ name, ends = [] }) => ends.map((status) => `  ${name} -.-> ${name}-${status}(["${status}"])`))
const apiParts = Object.entries(PARTS).map(
  ([part, says]) =>
    `  subgraph ${part}["${says}"]\n${chainOrder
      .filter((place) => place.part === part)
      .map((place) => `    ${apiNode(place)}\n`)
      .join('')}  end`,
)
const apiChain = `# What a request passes in an API server

Generated from \`packages/apiserver/src/chain/order.ts\` by \`npm run generate\`; do not edit. Every request, an upgrade too, passes these in this order, before the handler of its path; a dotted line is an
answer that it may end with there. \`retry-after\` and \`count\` are the engine's ([chain.md](chain.md)). A filter of your own stands directly before or after any of them; without a place, behind the last.
When the response is closed, those that were asked hear of it in the reverse order.

${fence(`flowchart TB
  arrives(["request or upgrade"])
${apiParts.join('\n')}
${chainOrder
  .filter(({ part }) => part === 'engine')
  .map((place) => `  ${apiNode(place)}`)
  .join('\n')}
  handler(["the handler of its path"])
  ${['arrives', ...chainOrder.map(({ name }) => name), 'handler'].join(' --> ')}
${apiEnds.join('\n')}
`)}

| | Upstream | Why there | May answer |
|---|---|---|---|
${chainOrder.map(({ name, upstream, why, ends = [] }) => `| \`${name}\` | ${upstream} | ${why} | ${ends.join(', ')} |`).join('\n')}
`

const delegates = `# The life of delegates

Generated by \`npm run generate\`; do not edit. Three API servers in a row have one life, that of the outermost: extensions brings the mux-complete signal \`definitions\` and a post-start hook, core
the signal \`groups\` and a pre-shutdown hook. The same plan as of one server that has all of it, and checked as that (\`test/apiserver/delegates-model.test.ts\`). Of your own row: \`npx quiesce diagram --config FILE\`.

${fence(textOf(ofDelegates, 'wiring'))}
`

const lifecycle = `# The whole life

Generated from the machines by \`npm run generate\`; do not edit. The same as [lifecycle-states.svg](lifecycle-states.svg) and
[lifecycle-states-retry-after.svg](lifecycle-states-retry-after.svg), as Mermaid: one chart for each lane. A box is a region with its states, a rounded state is an end, bold is the
signal that it raises, and a dashed line leads to what waits for it.

${perMode(({ mermaid }) =>
  mermaid
    .filter(({ name }) => name.startsWith('lifecycle-'))
    .map(({ title, text }) => `### ${title}\n\n${fence(text)}`)
    .join('\n\n'),
)}`

const sequences = `# One life from start to end

Generated by \`npm run generate\`: the machines walked on virtual time, from start over 60 s of serving to SIGTERM, on Kubernetes (delay 5 s, deadline 25 s). Every effect
answers at once, except that the last watch ends 0.5 s and the last request 1.5 s after the drain began. Do not edit.

${perMode(({ mode, mermaid }) => `![One life](sequence-${mode}.svg)\n\nThe same as Mermaid:\n\n${fence(textOf(mermaid, 'sequence'))}`)}`

const machineSvgs = [...(first?.svg ?? []), ...(withOwnPhase ?? []).filter(({ name }) => name === 'machines/user-phases'), ...besideLife]
  .filter(({ name }) => name.startsWith('machines/'))
  .map(({ name, text }) => /** @type {const} */ ([`${name}.svg`, text]))

const index = `# Pictures

Generated from the machines by \`npm run generate\`; \`npm run generate:check\` fails when one is stale. Do not edit. \`npx quiesce diagram --config FILE\` draws the same of your own server.

Every picture has its key below it. Orange is one of the eight signals of Kubernetes, blue one of our own; bold or not, a signal that stands last in a box is raised there.

| | refuse | retry-after |
|---|---|---|
| one end, animated | [drain.svg](drain.svg) | |
| who waits for whom ([Mermaid](wiring.md)) | [wiring-refuse.svg](wiring-refuse.svg) | [wiring-retry-after.svg](wiring-retry-after.svg) |
| the whole life, one region of each kind open | [lifecycle.svg](lifecycle.svg) | [lifecycle-retry-after.svg](lifecycle-retry-after.svg) |
| the same with every state ([Mermaid](lifecycle.md)) | [lifecycle-states.svg](lifecycle-states.svg) | [lifecycle-states-retry-after.svg](lifecycle-states-retry-after.svg) |
| one life from start to end ([Mermaid](sequences.md)) | [sequence-refuse.svg](sequence-refuse.svg) | [sequence-retry-after.svg](sequence-retry-after.svg) |

What a request passes before its handler: [chain.md](chain.md); in an API server: [api-server-chain.md](api-server-chain.md). The life of three API servers in a row: [delegates.md](delegates.md).

One picture for each file of \`src/machines/\` that has states, and for each machine of \`@quiesce/apiserver\`:
${machineSvgs
  .map(([name]) => name)
  .sort()
  .map((name) => `[${name.replace(/^machines\/|\.svg$/g, '')}](${name})`)
  .join(', ')}.
`

const cell = (/** @type {string | undefined} */ text) => (text ?? '').replaceAll('|', '\\|')
const options = `# Options

<!-- Generated from src/options/rows/ and packages/apiserver/src/config.ts by npm run generate; do not edit. -->

An option that cannot be used is refused with ERR_OPTION_INVALID, which lists
every problem: the option, what was given, what is allowed. Which default holds on which platform: [platforms.md](platforms.md). Each flag has an environment variable, and a key in the config file that has its name without the dashes: \`--request-timeout\`, \`QUIESCE_REQUEST_TIMEOUT\`, \`request-timeout\`. An option that needs another one is refused without it, or warned of when the life begins; the last column says which.

## createServer and attachLifecycle

${markdownOf(LIFECYCLE_OPTIONS)}

## createServer only

${markdownOf(LISTEN_OPTIONS)}

## stop()

${markdownOf(STOP_OPTIONS)}

## completeConfig() of @quiesce/apiserver

An API server has these and those of createServer, but for ${OF_THE_CHAIN.map((name) => `\`${name}\``).join(', ')}. \`quiesce-apiserver\` has the flags of both; there \`--port\` is \`--secure-port\` (6443),
and \`--disable-http2-serving\` stands for \`--http2\`.

${markdownOf(API_SERVER_OPTIONS, 'quiesce-apiserver')}
`

const { deadline, shutdownDelay } = LIFECYCLE_OPTIONS
const platforms = `# Platforms

<!-- Generated from src/platforms/ by npm run generate; do not edit. -->

With \`platform: 'auto'\` the first of these that is recognised is taken, and
the log and the report say by what. It decides the defaults below, of [options](options.md) that are not given; everything else is the same everywhere.
Where a platform waits longer or shorter than it says here, give \`killAfter\`, its time, and a \`deadline\` that is somewhat less. A deadline that is not less, given or not, is a warning
in the log, on standard error and in \`quiesce plan\`; so is a \`keepAliveTimeout\` that is not above what stands in front.

${platformsMarkdown({ deadline: deadline.default, shutdownDelay: shutdownDelay.default })}

A stop by Ctrl-C on a terminal, or any by \`node --watch\`, is another one: a person waits for it, so its deadline is ${terminal.defaults.deadline}. Readiness is told to PM2
(\`wait_ready\`) and [systemd](systemd.md) (\`Type=notify\`). Beside OS signals, \`run()\` heeds the message \`shutdown\` of a parent process (PM2 with \`shutdown_with_message\`),
and in a worker of \`node:cluster\` the loss of its primary.

A SIGTERM for npm, npx, pnpm or yarn does not get through the shell in which they run a script, nor through \`node --run\`, nor through a shell that is PID 1: the process is
killed with all of its requests. Start node itself, or write \`exec\` before the command of the script; \`run()\` warns in the log and on standard error where it is so.

## What is in front

The option \`behind\` says what sends the requests. A balancer that is told later than the process goes on sending, and one that keeps an idle connection longer than the server
does loses the request that it sends into the close. It decides the keep-alive timeout of a server that quiesce creates (give yours to an attached one), and delay and deadline wherever
requests still come after the stop request: not on Cloud Run, ECS, Fly.io and Heroku, which take the traffic away first. What kills the process, such as \`terminationGracePeriodSeconds\`, has
to wait longer than the deadline.

${frontsMarkdown()}

The report says when the last request came after the stop (\`connections.lastRequestMs\`, printed as \`last request\`); the delay is long
enough when that is well below it. When it is not, the printed report says what to lengthen.

To add a platform, write a file beside the others in \`src/platforms/\` and put it into the list of \`platforms.ts\`, before what it may run inside of.
`

/** @type {Record<import('../build/src/base/errors.js').Fault, string>} */
const faults = {
  caller: 'Of the program that uses quiesce',
  environment: 'Of what the program runs in',
  work: 'Of work that quiesce runs or waits for',
  quiesce: 'Of quiesce',
}
/** @param {Record<string, { readonly meaning: string }>} codes */
const tableOf = (codes) =>
  `| code | when |\n|---|---|\n${Object.entries(codes)
    .map(([code, { meaning }]) => `| \`${code}\` | ${cell(meaning)} |`)
    .join('\n')}`
const errors = `# Errors

<!-- Generated from src/base/errors.ts and src/base/warnings.ts by npm run generate; do not edit. -->

Every error of quiesce is a QuiesceError: \`code\` is stable and what programs decide on,
\`message\` is for people and may change, \`details\` has the data behind it, \`cause\` what led to it.

${Object.entries(faults)
  .map(
    ([fault, title]) =>
      `## ${title}\n\n${tableOf(Object.fromEntries(Object.entries(ERROR_CODES).filter(([, code]) => code.fault === fault)))}`,
  )
  .join('\n\n')}

## Of the model checker

These are a ModelError of \`@quiesce/model\`, which \`quiesce/testing\` exports as well: \`code\`, \`message\` and \`details\` mean the same.

${tableOf(MODEL_ERROR_CODES)}

## Warnings

A server goes on after a warning. A line of a warning on standard error ends with its code in brackets, such as \`[WARN_SIGNAL_LOST]\`; a line about the report file ends with \`[ERR_REPORT_WRITE]\`. Warnings of a running server are also in the log, in the journal and in \`report.warnings\`, where programs find
the code in \`details.code\`. The log and the report have further warnings, which are not on standard error and have no code. Lines that say why a stop was not graceful begin with \`exit code N\`.

${tableOf(Object.fromEntries(Object.entries(WARNING_CODES).map(([code, meaning]) => [code, { meaning }])))}
`

const drain = drainSvg(await recordDrain())

const files = new Map([
  ['diagrams/drain.svg', drain],
  ['docs/options.md', options],
  ['docs/errors.md', errors],
  ['docs/messages.md', messagesMarkdown()],
  ['docs/platforms.md', platforms],
  ...(await comparisonFiles()),
  ['diagrams/README.md', index],
  ['diagrams/lifecycle.md', lifecycle],
  ['diagrams/wiring.md', wiring],
  ['diagrams/chain.md', chain],
  ['diagrams/api-server-chain.md', apiChain],
  ['diagrams/delegates.md', delegates],
  ['diagrams/sequences.md', sequences],
  ...drawn.flatMap(({ mode, svg }) => [
    /** @type {const} */ ([`diagrams/lifecycle${mode === 'refuse' ? '' : `-${mode}`}.svg`, textOf(svg, 'lifecycle')]),
    /** @type {const} */ ([`diagrams/lifecycle-states${mode === 'refuse' ? '' : `-${mode}`}.svg`, textOf(svg, 'lifecycle-states')]),
    /** @type {const} */ ([`diagrams/wiring-${mode}.svg`, textOf(svg, 'wiring')]),
    /** @type {const} */ ([`diagrams/sequence-${mode}.svg`, textOf(svg, 'sequence')]),
  ]),
  ...machineSvgs.map(([name, text]) => /** @type {const} */ ([`diagrams/${name}`, text])),
])

for (const [name, text] of files) {
  if (!check) {
    mkdirSync(dirname(file(name)), { recursive: true })
    writeFileSync(file(name), text)
  } else if (!existsSync(file(name)) || readFileSync(file(name), 'utf8') !== text) {
    console.error(`${name} is stale: run npm run generate and commit the result`)
    process.exitCode = 1
  }
}
for (const entry of readdirSync(file('diagrams'), { recursive: true, encoding: 'utf8' })) {
  const name = `diagrams/${entry.replaceAll('\\', '/')}`
  if (!/\.(svg|md)$/.test(name) || files.has(name)) continue
  if (!check) rmSync(file(name))
  else {
    console.error(`${name} is not generated any more: run npm run generate and commit the result`)
    process.exitCode = 1
  }
}
