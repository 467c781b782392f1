import { EXIT_CODES, EXIT_CODES_BY_SEVERITY } from '../machines/exit-codes.ts'
import { type Flag, flagsOf } from '../options/define.ts'
import { CHECK_OPTIONS } from './check-flags.ts'
import { DIAGRAM_OPTIONS } from './diagram-flags.ts'
import { RUN_FLAGS, SERVE_FLAGS } from './flags.ts'
import { INSPECT_OPTIONS } from './inspect-flags.ts'
import { PLAN_FLAGS } from './plan-flags.ts'
import { REPORT_OPTIONS } from './report-flags.ts'

const WIDTH = 100
const INDENT = '      '

export const MAIN_HELP = `\
quiesce: a server that starts, drains and ends in order

Usage:
  quiesce run APP [flags]  run your own app, server or life until stopped (flags: quiesce run --help)
  quiesce serve [flags]    serve the example API until stopped (flags: quiesce serve --help)
  quiesce check [flags]    check every state that a life can reach (flags: quiesce check --help)
  quiesce plan [flags]     print how much time a stop gives to what (flags: quiesce plan --help)
  quiesce diagram [flags]  draw a life and its machines (flags: quiesce diagram --help)
  quiesce inspect FILE     show a report, a journal or a counter-example in a page (flags: quiesce inspect --help)
  quiesce report FILE      print the timeline of a report that --report-file wrote (more: quiesce report --help)
  quiesce --help | --version
`

/** Every flag with what it means, what is allowed and the default, from the rows of its option. */
export const flagsHelp = (flags: readonly Flag[]): string =>
  flags
    .flatMap(({ name, switch: onOff, allowed, default: fallback, meaning }) => [
      `  --${name}${onOff ? '' : ' VALUE'}`,
      ...wrap(`${meaning}.`),
      ...(onOff?.bare ? [] : wrap(`Allowed: ${allowed}. Default: ${fallback}.`)),
    ])
    .join('\n')

/** `quiesce run --help` */
export const runHelp = (): string => `\
Usage: quiesce run APP [flags]

Runs what your module exports until SIGTERM or SIGINT, then refuses, drains and ends in order. APP is an ES or
CommonJS module, or TypeScript where Node strips types. Its default export, or that of --export, is
  an app of Hono, Express, Koa, Fastify or NestJS
  something with fetch, a fetch function (request), or a node listener (req, res)
  an http.Server that does not listen yet
  what createServer(), attachLifecycle() or createLife() returned, which has options of its own: no flags then
Health is answered on /healthz, /livez and /readyz. With --watch, a change of a source file of its package
drains the process and starts the next one.

Examples:
  quiesce run server.mjs --port 3000
  quiesce run src/server.ts --watch
  quiesce run app.js --export api --deadline 25s --report-file report.json

Flags:
${flagsHelp(RUN_FLAGS)}
  --help, --version

${SOURCES_OF_SETTINGS}
Exit codes:
${exitCodes()}
`

const SOURCES_OF_SETTINGS = `\
A flag without a value is on, and off as --no-FLAG or --FLAG=false.
Each flag has an environment variable (--port: QUIESCE_PORT) and a key in the config file (port).
A flag wins over the environment, the environment over the file, the file over the default.
`

const exitCodes = (): string => EXIT_CODES_BY_SEVERITY.map((code) => `  ${String(code).padStart(2)}  ${EXIT_CODES[code]}`).join('\n')

/** `quiesce serve --help` */
export const serveHelp = (): string => `\
Usage: quiesce serve [flags]

Serves the example API until SIGTERM or SIGINT, then refuses, drains and ends in order.

Flags:
${flagsHelp(SERVE_FLAGS)}
  --help, --version

${SOURCES_OF_SETTINGS}
Exit codes:
${exitCodes()}
`

/** `quiesce check --help` */
export const checkHelp = (): string => `\
Usage: quiesce check [flags]

Explores every state that a life can reach, whatever its effects answer and in whatever order, and checks
what has to hold in all of them. Nothing is started. With --config it is your life: export the server that
createServer() or attachLifecycle() returned, and, if you like, a list named properties of your own.

Flags:
${flagsHelp(flagsOf(CHECK_OPTIONS))}
  --help

Exit codes:
   0  everything holds
   1  something does not: the steps that lead there are printed
   2  bad usage, or a life that cannot be checked
`

/** `quiesce plan --help` */
export const planHelp = (): string => `\
Usage: quiesce plan [flags]

Prints how long requests, watches, hooks and connections have when a life is stopped, by a signal, by Ctrl-C
or by a crash, and where each number comes from. Nothing is started. With --config it is your life: export
the server that createServer() or attachLifecycle() returned. The platform is that of this process. Without
it, the flags are those of quiesce serve that a plan depends on.

Flags:
${flagsHelp(flagsOf(PLAN_FLAGS))}
  --help

Exit codes:
   0  printed
   2  bad usage, or a life that cannot be composed
`

/** `quiesce diagram --help` */
export const diagramHelp = (): string => `\
Usage: quiesce diagram [flags]

Draws a life from its machines: the whole, who waits for whom, a walk from start to end, and every phase
machine. Nothing is started. With --config it is your life: export the server that createServer() or
attachLifecycle() returned. Flowcharts and machines are laid out by elkjs when it is installed.

Flags:
${flagsHelp(flagsOf(DIAGRAM_OPTIONS))}
  --help

Exit codes:
   0  the pictures are written; their names are printed
   2  bad usage, or a life that cannot be drawn
`

/** `quiesce inspect --help` */
export const inspectHelp = (): string => `\
Usage: quiesce inspect FILE [flags]

Shows a recorded life in the inspector's page until Ctrl-C: a report (quiesce serve --report-file), a journal
(--journal), or a counter-example of the checker (quiesce check --trace-file).

Flags:
${flagsHelp(flagsOf(INSPECT_OPTIONS))}
  --help

Exit codes:
   0  ended by Ctrl-C
   2  bad usage, or a file that is none of these
`

/** `quiesce report --help` */
export const reportHelp = (): string => `\
Usage: quiesce report FILE [FILE] [flags]

Prints the timeline of a report, which --report-file or the option reportFile wrote. With - it is read from
standard input. In colour on a terminal, unless NO_COLOR is set. Of two reports it prints what is different
in the second one. That is worse when its exit code is more severe, when more requests, watches, handlers or
connections were left or closed by force, when more failed, or when a hook or phase was cut or failed that
was not before. Times are judged with --slower only.

Flags:
${flagsHelp(flagsOf(REPORT_OPTIONS))}
  --help

Exit codes:
   0  printed or written; of two reports, the second is not worse
   1  the second of two reports is worse
   2  bad usage, or a file that is no complete report
   4  standard output could not be written
`

/** Words into lines that fit. */
function wrap(text: string): string[] {
  const lines: string[] = []
  let line = INDENT
  for (const word of text.split(' ')) {
    if (line.length + word.length > WIDTH && line !== INDENT) {
      lines.push(line.trimEnd())
      line = INDENT
    }
    line += `${word} `
  }
  return [...lines, line.trimEnd()]
}
