import { EXIT_CODES } from '../machines/exit-codes.ts'
import { flagsOf } from '../options/kit/flags.ts'
import { CHECK_FLAGS } from './check-flags.ts'
import type { CommandName } from './command-names.ts'
import { type CommandPage, EXIT_CODES_OF_A_LIFE } from './command-page.ts'
import { DIAGRAM_OPTIONS } from './diagram-flags.ts'
import { RUN_FLAGS, SERVE_FLAGS } from './flags.ts'
import { INSPECT_OPTIONS } from './inspect-flags.ts'
import { PLAN_FLAGS } from './plan-flags.ts'
import { REPORT_OPTIONS } from './report-flags.ts'

const UNWRITTEN = [4, 'standard output could not be written'] as const
const INTERNAL = [70, EXIT_CODES[70]] as const

export const COMMAND_PAGES: Readonly<Record<CommandName, CommandPage>> = {
  run: {
    summary: 'run your own app or server until it is stopped',
    operands: 'APP',
    examples: [
      ['quiesce run server.mjs --port 3000', 'serve your app; Ctrl-C drains it'],
      ['quiesce run src/server.ts --watch', 'restart, after a drain, when a source file changes'],
      ['quiesce run app.js --export api --deadline 25s --report-file report.json', 'run another export, and keep the report'],
    ],
    about: `\
Runs what your module exports. At SIGTERM or SIGINT it refuses new requests, finishes those under way, and
exits. APP is an ES or CommonJS module, or TypeScript where Node strips types. Its default export, or that
of --export, is
  an app of Hono, Express, Koa, Fastify or NestJS,
  an object with fetch, a fetch function (request), or a node listener (req, res),
  an http.Server that does not listen yet, or
  what createServer(), attachLifecycle() or createLife() returned; it has its own options and takes no flags
The server answers health checks on /healthz, /livez and /readyz. With --watch, when a source file of the
package changes, the process drains and a new one starts.`,
    flags: RUN_FLAGS,
    hasSettings: true,
    exitCodes: EXIT_CODES_OF_A_LIFE,
  },
  serve: {
    summary: 'serve the example API until it is stopped',
    operands: '',
    examples: [
      ['quiesce serve --demo', 'have requests under way, and see on Ctrl-C how they are drained'],
      ['quiesce serve --port 8080', 'serve, and drain on Ctrl-C'],
      ['quiesce serve --shutdown-send-retry-after --shutdown-delay-duration 5s', 'answer 429 while draining, after a delay'],
      ['quiesce serve --inspector-address 127.0.0.1:9230 --journal life.ndjson', 'watch the lifecycle in a browser, and record it'],
    ],
    about: 'Serves the example API. At SIGTERM or SIGINT it refuses new requests, finishes those under way, and exits.',
    flags: SERVE_FLAGS,
    hasSettings: true,
    exitCodes: EXIT_CODES_OF_A_LIFE,
  },
  check: {
    summary: 'check every state that a server can reach between start and exit',
    operands: '',
    examples: [
      ['quiesce check --config server.mjs', 'check your server'],
      ['quiesce check --config server.mjs --outside stop --timed', 'explore fewer states, and check times as well'],
      ['quiesce check --config server.mjs --trace-file trace.ndjson', 'write the steps that lead to a failure, for quiesce inspect'],
      ['quiesce check --tls-cert-file tls.crt --tls-private-key-file tls.key', 'check certificates before you serve them'],
    ],
    about: `\
Explores every state that a server can reach between start and exit, for all results of its hooks and in
every order of events, and checks properties that have to hold in all of them. With --config it checks your
server: export what createServer(), attachLifecycle() or createLife() returned, and, if you like, a list
named properties of your own. The server is not started. The file is loaded, so a port that it opens by
itself is open meanwhile. Before that, the command checks certificates, those of a server of createServer()
or those of the flags: whether they can be read, whether key and certificate match, and whether they are
still valid.`,
    flags: flagsOf(CHECK_FLAGS),
    exitCodes: [
      [0, 'every property holds'],
      [1, 'a property does not hold, and the steps that lead there are printed; or a certificate is not in order'],
      [2, 'bad usage, or a server or a property that cannot be checked'],
      UNWRITTEN,
      INTERNAL,
    ],
  },
  plan: {
    summary: 'print how much time each part of a stop has',
    operands: '',
    examples: [
      ['quiesce plan --config server.mjs', 'the times of your server, on this platform'],
      ['quiesce plan --deadline 25s --shutdown-delay-duration 5s --json', 'the times of a server without hooks, as JSON'],
    ],
    about: `\
Prints how long requests, watches, hooks and connections have when a server is stopped by a signal, by
Ctrl-C or by a crash, and where each number comes from. With --config it prints the plan of your server:
export what createServer(), attachLifecycle() or createLife() returned. The server is not started. The file
is loaded, so a port that it opens by itself is open meanwhile. The plan is for the platform that this
command runs on. Without --config it has the flags of quiesce serve, and reads the same QUIESCE_* variables
and the config file that QUIESCE_CONFIG names.`,
    flags: flagsOf(PLAN_FLAGS),
    exitCodes: [[0, 'printed'], [2, 'bad usage, or a server whose plan cannot be made'], UNWRITTEN, INTERNAL],
  },
  diagram: {
    summary: 'draw the lifecycle of a server and its state machines',
    operands: '',
    examples: [
      ['quiesce diagram --config server.mjs --out pictures', 'draw your server'],
      ['quiesce diagram --format mermaid', 'write text for Mermaid'],
    ],
    about: `\
Draws the lifecycle of a server from its state machines: an overview, which phase waits for which, a walk
from start to exit, and each phase. With --config it draws your server: export what createServer(),
attachLifecycle() or createLife() returned. The server is not started. The file is loaded, so a port that it
opens by itself is open meanwhile. When the package elkjs is installed, it lays out flowcharts and machines.`,
    flags: flagsOf(DIAGRAM_OPTIONS),
    exitCodes: [
      [0, 'the pictures were written, and their names printed'],
      [2, 'bad usage, or a server that cannot be drawn'],
      UNWRITTEN,
      INTERNAL,
    ],
  },
  inspect: {
    summary: 'show a report, a journal or a counter-example in a page',
    operands: 'FILE',
    examples: [
      ['quiesce inspect life.ndjson', 'step through a recorded lifecycle, entry by entry'],
      ['quiesce inspect report.json --port 9230 --no-open', 'on a port of your choice, without a browser'],
    ],
    about: `\
Shows a recording in the inspector's page until Ctrl-C: a report (--report-file), a journal (--journal), or
a counter-example (quiesce check --trace-file).`,
    flags: flagsOf(INSPECT_OPTIONS),
    exitCodes: [[0, 'ended by Ctrl-C'], [2, 'bad usage, or the file is none of these'], UNWRITTEN, INTERNAL],
  },
  report: {
    summary: 'print the timeline of a report, compare two, or write one as a page',
    operands: 'FILE [FILE]',
    examples: [
      ['quiesce report report.json', 'print the timeline'],
      ['quiesce report before.json after.json', 'print what differs, and whether the second is worse'],
      ['quiesce report report.json --html incident.html', 'write one page for an incident record'],
    ],
    about: `\
Prints the timeline of a report that --report-file or the option reportFile wrote. With - it reads standard
input. On a terminal it uses colours, unless NO_COLOR is set. Given two reports, it prints what differs in
the second one. The second one is worse when its exit code is more severe, when more requests, watches,
handlers or connections were left or closed by force, when more errors occurred, or when a hook or phase was
cut or failed that was not before. Times count only with --slower.`,
    flags: flagsOf(REPORT_OPTIONS),
    exitCodes: [
      [0, 'printed or written; with two reports, the second is not worse'],
      [1, 'with two reports, the second is worse'],
      [2, 'bad usage, or the file is no complete report'],
      UNWRITTEN,
      INTERNAL,
    ],
  },
  completion: {
    summary: 'print a script for completion in your shell',
    operands: 'bash|zsh|fish',
    operandChoices: ['bash', 'zsh', 'fish'],
    examples: [
      ['source <(quiesce completion bash)', 'in ~/.bashrc'],
      ['source <(quiesce completion zsh)', 'in ~/.zshrc, below compinit'],
      ['quiesce completion fish > ~/.config/fish/completions/quiesce.fish', 'once'],
    ],
    about: `\
Prints a script with which your shell completes commands, flags and their values. It completes the command
quiesce, not npx quiesce. If quiesce is installed in a project only, define that command first:
  quiesce() { npx quiesce "$@"; }    in bash and zsh (zsh completes npx for an alias; bash takes both)
  alias quiesce='npx quiesce'        in fish`,
    flags: [],
    exitCodes: [[0, 'printed'], [2, 'bad usage'], UNWRITTEN, INTERNAL],
  },
}
