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

export const COMMAND_PAGES: Readonly<Record<CommandName, CommandPage>> = {
  run: {
    summary: 'run your own app, server or life until stopped',
    operands: 'APP',
    examples: [
      ['quiesce run server.mjs --port 3000', 'serve your app; Ctrl-C drains it'],
      ['quiesce run src/server.ts --watch', 'drain and start anew when a source file changes'],
      ['quiesce run app.js --export api --deadline 25s --report-file report.json', 'run another export, and keep the report'],
    ],
    about: `\
Runs what your module exports until SIGTERM or SIGINT, then refuses, drains and ends in order. APP is an ES or
CommonJS module, or TypeScript where Node strips types. Its default export, or that of --export, is
  an app of Hono, Express, Koa, Fastify or NestJS
  something with fetch, a fetch function (request), or a node listener (req, res)
  an http.Server that does not listen yet
  what createServer(), attachLifecycle() or createLife() returned, which has options of its own: no flags then
Health is answered on /healthz, /livez and /readyz. With --watch, a change of a source file of its package
drains the process and starts the next one.`,
    flags: RUN_FLAGS,
    hasSettings: true,
    exitCodes: EXIT_CODES_OF_A_LIFE,
  },
  serve: {
    summary: 'serve the example API until stopped',
    operands: '',
    examples: [
      ['quiesce serve --demo', 'serve with something to drain, and watch it drain on Ctrl-C'],
      ['quiesce serve --port 8080', 'serve, and drain on Ctrl-C'],
      ['quiesce serve --shutdown-send-retry-after --shutdown-delay-duration 5s', 'answer 429 while draining, after a delay'],
      ['quiesce serve --inspector-address 127.0.0.1:9230 --journal life.ndjson', 'watch the life in a browser, and record it'],
    ],
    about: 'Serves the example API until SIGTERM or SIGINT, then refuses, drains and ends in order.',
    flags: SERVE_FLAGS,
    hasSettings: true,
    exitCodes: EXIT_CODES_OF_A_LIFE,
  },
  check: {
    summary: 'check every state that a life can reach',
    operands: '',
    examples: [
      ['quiesce check --config server.mjs', 'check the life of your server'],
      ['quiesce check --config server.mjs --outside stop --timed', 'fewer states, and bounds in time as well'],
      ['quiesce check --config server.mjs --trace-file trace.ndjson', 'write the way to what fails, for quiesce inspect'],
      ['quiesce check --tls-cert-file tls.crt --tls-private-key-file tls.key', 'look at certificates before they are served'],
    ],
    about: `\
Explores every state that a life can reach, whatever its effects answer and in whatever order, and checks
what has to hold in all of them. With --config it is your life: export the server that createServer() or
attachLifecycle() returned, and, if you like, a list named properties of your own. The life is not started.
The file is loaded, so what it opens by itself, such as a port by listen(), is open meanwhile.
The certificates of a server that createServer() returned are looked at first, or those of the flags:
whether they can be read, match, and are still valid.`,
    flags: flagsOf(CHECK_FLAGS),
    exitCodes: [
      [0, 'everything holds'],
      [1, 'something does not: the steps that lead there are printed, or what is wrong with a certificate'],
      [2, 'bad usage, or a life that cannot be checked'],
    ],
  },
  plan: {
    summary: 'print how much time a stop gives to what',
    operands: '',
    examples: [
      ['quiesce plan --config server.mjs', 'the times of your server, on this platform'],
      ['quiesce plan --deadline 25s --shutdown-delay-duration 5s --json', 'those of a server without hooks, for programs'],
    ],
    about: `\
Prints how long requests, watches, hooks and connections have when a life is stopped, by a signal, by Ctrl-C
or by a crash, and where each number comes from. With --config it is your life: export the server that
createServer() or attachLifecycle() returned. The life is not started; the file is loaded, and what it opens
by itself is open meanwhile. The platform is that of this process. Without --config, the flags are those of
quiesce serve that a plan depends on.`,
    flags: flagsOf(PLAN_FLAGS),
    exitCodes: [
      [0, 'printed'],
      [2, 'bad usage, or a life that cannot be composed'],
    ],
  },
  diagram: {
    summary: 'draw a life and its machines',
    operands: '',
    examples: [
      ['quiesce diagram --config server.mjs --out pictures', 'draw the life of your server'],
      ['quiesce diagram --format mermaid', 'as text that Mermaid draws'],
    ],
    about: `\
Draws a life from its machines: the whole, who waits for whom, a walk from start to end, and every phase
machine. With --config it is your life: export the server that createServer() or attachLifecycle() returned.
The life is not started; the file is loaded, and what it opens by itself is open meanwhile. Flowcharts
and machines are laid out by elkjs when it is installed.`,
    flags: flagsOf(DIAGRAM_OPTIONS),
    exitCodes: [
      [0, 'the pictures are written; their names are printed'],
      [2, 'bad usage, or a life that cannot be drawn'],
    ],
  },
  inspect: {
    summary: 'show a report, a journal or a counter-example in a page',
    operands: 'FILE',
    examples: [
      ['quiesce inspect life.ndjson', 'go through a recorded life, entry by entry'],
      ['quiesce inspect report.json --port 9230 --no-open', 'on a port of your choice, without a browser'],
    ],
    about: `\
Shows a recorded life in the inspector's page until Ctrl-C: a report (--report-file), a journal (--journal),
or a counter-example of the checker (quiesce check --trace-file).`,
    flags: flagsOf(INSPECT_OPTIONS),
    exitCodes: [
      [0, 'ended by Ctrl-C'],
      [2, 'bad usage, or a file that is none of these'],
    ],
  },
  report: {
    summary: 'print the timeline of a report, compare two, or write one as a page',
    operands: 'FILE [FILE]',
    examples: [
      ['quiesce report report.json', 'print the timeline'],
      ['quiesce report before.json after.json', 'what is different, and whether it is worse'],
      ['quiesce report report.json --html incident.html', 'one page to be attached to an incident'],
    ],
    about: `\
Prints the timeline of a report, which --report-file or the option reportFile wrote. With - it is read from
standard input. In colour on a terminal, unless NO_COLOR is set. Of two reports it prints what is different
in the second one. That is worse when its exit code is more severe, when more requests, watches, handlers or
connections were left or closed by force, when more failed, or when a hook or phase was cut or failed that
was not before. Times are judged with --slower only.`,
    flags: flagsOf(REPORT_OPTIONS),
    exitCodes: [
      [0, 'printed or written; of two reports, the second is not worse'],
      [1, 'the second of two reports is worse'],
      [2, 'bad usage, or a file that is no complete report'],
      UNWRITTEN,
    ],
  },
  completion: {
    summary: 'print what completes these commands in a shell',
    operands: 'bash|zsh|fish',
    operandChoices: ['bash', 'zsh', 'fish'],
    examples: [
      ['source <(quiesce completion bash)', 'in ~/.bashrc'],
      ['source <(quiesce completion zsh)', 'in ~/.zshrc, below compinit'],
      ['quiesce completion fish > ~/.config/fish/completions/quiesce.fish', 'once'],
    ],
    about: `\
Prints a script that completes commands, flags and their values in your shell. It completes the command
quiesce, not npx quiesce. Where quiesce is installed in a project only, that command has to be made first:
  quiesce() { npx quiesce "$@"; }    in bash and zsh (zsh completes npx for an alias; bash takes both)
  alias quiesce='npx quiesce'        in fish`,
    flags: [],
    exitCodes: [[0, 'printed'], [2, 'bad usage'], UNWRITTEN],
  },
}
