import { readFileSync } from 'node:fs'
import ts from 'typescript'
import { describe, expect, test } from 'vitest'
import { lineOf, parse, type Source, sources, walk } from './sources.ts'

/** What is not to be used, where, and what to use instead. */
interface Ban {
  readonly what: string
  readonly instead: string
  /** Prefixes of the paths it holds for, and of those that are its purpose. */
  readonly within: string
  readonly except?: readonly string[]
  readonly is: (node: ts.Node, source: Source) => boolean
}

/**
 * `a.b.c` of names alone: the text of what a long chain of calls is made on takes time to cut out.
 */
function dotted(node: ts.Node): string | undefined {
  if (ts.isIdentifier(node)) return node.text
  if (!ts.isPropertyAccessExpression(node)) return undefined
  const object = dotted(node.expression)
  return object && `${object}.${node.name.text}`
}
/** Asked for by many bans, one after the other. */
const names = new WeakMap<ts.Node, string>()
function nameOf(node: ts.Node): string {
  const known = names.get(node)
  if (known !== undefined) return known
  const name = dotted(node)?.replace(/^globalThis\./, '') ?? ''
  names.set(node, name)
  return name
}

/** `name(…)` as a bare identifier, or `a.b(…)` spelled out. */
const isCallOf = (node: ts.Node, ...names: readonly string[]): boolean =>
  (ts.isCallExpression(node) || ts.isNewExpression(node)) && names.includes(nameOf(node.expression))

/** `object.member`, called or not: `Date.now` may also be passed on. */
const isMember = (node: ts.Node, object: string, member?: string): boolean =>
  ts.isPropertyAccessExpression(node) && nameOf(node.expression) === object && (member === undefined || node.name.text === member)

const isImportOf = (node: ts.Node, specifier: RegExp, names?: RegExp): boolean => {
  if (!ts.isImportDeclaration(node) || !ts.isStringLiteral(node.moduleSpecifier) || !specifier.test(node.moduleSpecifier.text)) return false
  const bindings = node.importClause?.namedBindings
  if (names === undefined || bindings === undefined || !ts.isNamedImports(bindings)) return names === undefined
  return bindings.elements.some((element) => names.test((element.propertyName ?? element.name).text))
}

/** Whether a node stands within another that is of the kind. */
const isWithin = (node: ts.Node, isOfKind: (outer: ts.Node) => boolean): boolean => {
  for (let outer = node.parent; outer !== undefined; outer = outer.parent) if (isOfKind(outer)) return true
  return false
}

/** A part of the system that a process may be denied, and that nobody has named to us. */
const isOfTheSystem = (node: ts.Node): boolean =>
  (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node) || ts.isTemplateHead(node)) &&
  /^\/(proc|sys|run|etc|dev|\.dockerenv)\b/.test(node.text) &&
  !ts.isPropertyAssignment(node.parent)
const LOOKS = ['existsSync', 'networkInterfaces', 'hostname', 'userInfo', 'cpus', 'availableParallelism', 'process.getuid', 'process.cwd']
const isEnvironment = (node: ts.Node): boolean => /(^|[Pp]rocess\.|facts\.)env$/.test(nameOf(node))

const TIMERS = /^(node:)?timers(\/promises)?$/
const CLOCK = ['src/base/clock.ts', 'packages/inspector-page/src/clock.ts']
const TEST_MODIFIERS = /^(test|it|describe|suite|row)(\.\w+)*\.(only|skip|todo|fails)$/

const TESTS = /^(test|row)\b/
/** As vitest.config.ts has it, which is read as a text: to import it is to look for the machine. */
const PATIENCE_MS = Number(/testTimeout: ([\d_]+)/.exec(readFileSync('vitest.config.ts', 'utf8'))?.[1]?.replaceAll('_', ''))
/** `{ timeout: 60_000 }` or `60_000`, beside the test itself. */
function isLittleTime(argument: ts.Node): boolean {
  const given = ts.isObjectLiteralExpression(argument)
    ? argument.properties.find((each): each is ts.PropertyAssignment => ts.isPropertyAssignment(each) && each.name.getText() === 'timeout')
        ?.initializer
    : argument
  if (given === undefined || !ts.isNumericLiteral(given)) return false
  const ms = Number(given.text)
  return ms > 0 && ms < PATIENCE_MS
}

/**
 * Members of node by their names: an underscore in front, those of streams that a stream of one's
 * own has to have aside, or no underscore, and found by reading node.
 */
const UNDOCUMENTED =
  /^(?:_(?!(?:construct|destroy|final|flush|read|transform|writev?)$)[a-z]\w*|parser|headRequest|readStart|writeQueueSize)$/i

/** A member that is read, written, destructured, or described in a type. */
function isUndocumented(node: ts.Node): boolean {
  if (ts.isPropertyAccessExpression(node)) return UNDOCUMENTED.test(node.name.text)
  if (ts.isElementAccessExpression(node))
    return ts.isStringLiteralLike(node.argumentExpression) && UNDOCUMENTED.test(node.argumentExpression.text)
  if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.InKeyword)
    return ts.isStringLiteralLike(node.left) && UNDOCUMENTED.test(node.left.text)
  if (ts.isBindingElement(node) && ts.isObjectBindingPattern(node.parent))
    return UNDOCUMENTED.test((node.propertyName ?? node.name).getText())
  return ts.isPropertySignature(node) && UNDOCUMENTED.test(node.name.getText())
}

const BANS: readonly Ban[] = [
  {
    what: 'Date.now, performance.now or new Date()',
    instead: 'now() or wall() of the Clock that was passed in',
    within: 'src/',
    except: CLOCK,
    is: (node) =>
      isMember(node, 'Date', 'now') ||
      isMember(node, 'performance', 'now') ||
      (ts.isNewExpression(node) && node.getText().startsWith('new Date()')),
  },
  {
    what: 'a bare timer',
    instead: 'setTimeout of the Clock that was passed in',
    within: 'src/',
    except: CLOCK,
    is: (node) =>
      isCallOf(node, 'setTimeout', 'setInterval', 'clearTimeout', 'clearInterval', 'AbortSignal.timeout') ||
      (isImportOf(node, TIMERS) && !isImportOf(node, TIMERS, /^setImmediate$/)),
  },
  {
    what: 'setImmediate of the global object, which a browser that is played does not have',
    instead: "setImmediate of 'node:timers'",
    within: 'src/',
    except: ['src/base/', 'src/testing/', 'src/cli/'],
    is: (node) => isCallOf(node, 'setImmediate') && !/import \{ setImmediate \} from 'node:timers'/.test(node.getSourceFile().text),
  },
  {
    what: "rxjs's own time",
    instead: 'the operators of actors/clock.ts, which take a Clock',
    within: 'src/',
    except: CLOCK,
    is: (node) =>
      isImportOf(node, /^rxjs/, /^(timer|interval|delay|(debounce|throttle|audit|sample|buffer|window)Time|timeout|asyncScheduler)$/),
  },
  {
    what: 'console',
    instead: 'an event that actors/log.ts writes, or the stream that the host passed in',
    within: 'src/',
    is: (node) => isMember(node, 'console'),
  },
  {
    what: 'process.exit or process.abort',
    instead: 'an Ended signal with its exit code: run() decides how the process ends',
    within: 'src/',
    except: ['src/process/run.ts', 'src/process/process-end.ts', 'src/cli/'],
    is: (node) => isMember(node, 'process', 'exit') || isMember(node, 'process', 'reallyExit') || isMember(node, 'process', 'abort'),
  },
  {
    what: 'Math.random',
    instead: 'random of the Host, so that a test can replace it',
    within: 'src/',
    except: ['src/actors/host.ts'],
    is: (node) => isMember(node, 'Math', 'random'),
  },
  {
    what: 'Math.random',
    instead: 'a generator made from the printed seed of test/support/seed.ts',
    within: 'test/',
    // Whose machines must not throw a coin.
    except: ['test/support/seed.ts', 'packages/model/test/pure.test.ts'],
    is: (node) => isMember(node, 'Math', 'random'),
  },
  {
    what: 'a look around that may fail',
    instead: 'look() of base/look.ts around it: no life ends because a default could not be found',
    within: 'src/',
    // Of a path that the user has given.
    except: ['src/base/look.ts', 'src/cli/', 'packages/apiserver/src/audit/'],
    is: (node) => (isOfTheSystem(node) || isCallOf(node, ...LOOKS)) && !isWithin(node, (outer) => isCallOf(outer, 'look')),
  },
  {
    what: 'a variable of the environment',
    instead: 'variable() of base/look.ts: not every process may read it',
    within: 'src/',
    except: ['src/base/look.ts', 'src/cli/'],
    is: (node) =>
      (ts.isElementAccessExpression(node) && isEnvironment(node.expression)) ||
      (ts.isPropertyAccessExpression(node) && /^[A-Z_]+$/.test(node.name.text) && isEnvironment(node.expression)) ||
      (ts.isVariableDeclaration(node) &&
        ts.isObjectBindingPattern(node.name) &&
        node.initializer !== undefined &&
        isEnvironment(node.initializer)),
  },
  {
    what: 'an import of node:http or node:http2',
    instead: 'base/node-http.ts or http/h2/error-codes.ts, and import type: the import loads more than all of quiesce',
    within: 'src/',
    // What has Hono loads it all the same.
    except: ['src/inspector/server/', 'src/testing/', 'src/example/', 'src/cli/', 'packages/'],
    is: (node) => isImportOf(node, /^(node:)?http2?$/) && !(ts.isImportDeclaration(node) && node.importClause?.isTypeOnly === true),
  },
  {
    what: 'import.meta at module level',
    instead: 'a call that needs it: in CommonJS there is none, and a program that was bundled into that would not load',
    within: 'src/',
    is: (node) =>
      ts.isMetaProperty(node) && node.keywordToken === ts.SyntaxKind.ImportKeyword && !isWithin(node, (outer) => ts.isFunctionLike(outer)),
  },
  ...['src/http/', 'packages/apiserver/src/', 'src/metrics/', 'src/opentelemetry/'].map((within) => ({
    what: 'an object in which a text is looked up',
    instead: 'a Map: what a client calls `constructor` is a member of every object',
    within,
    // What is looked up there is one of the alternatives of an expression, or a name of ours.
    except: ['packages/apiserver/src/go-duration.ts', 'packages/apiserver/src/internal-error.ts', 'packages/apiserver/src/latency.ts'],
    is: (node: ts.Node): boolean =>
      ts.isVariableDeclaration(node) &&
      node.initializer !== undefined &&
      ts.isObjectLiteralExpression(node.initializer) &&
      /\bRecord<string,/.test(node.type?.getText() ?? '') &&
      ts.isSourceFile(node.parent.parent.parent),
  })),
  {
    what: 'a member of node that its documentation does not name',
    instead: 'src/base/node-internals.ts, whose test says when a version has moved one',
    within: 'src/',
    except: [
      'src/base/node-internals.ts',
      // What others than node have: Sentry, Express, the inspector of xstate, yaml, xstate.
      'src/process/crashes.ts',
      'src/lifecycle/routes-of-applications.ts',
      'src/inspector/server/official.ts',
      'src/inspector/actor-watch.ts',
      'packages/apiserver/src/encoding/read-yaml-body.ts',
      'packages/model/src/',
    ],
    is: isUndocumented,
  },
  {
    what: 'any',
    instead: 'unknown and a check, or the real type',
    within: 'src/',
    is: (node) => node.kind === ts.SyntaxKind.AnyKeyword,
  },
  {
    what: '`as any`',
    instead: '`as unknown as T`, or a fixture of the real type',
    within: 'test/',
    is: (node) => ts.isAsExpression(node) && node.type.kind === ts.SyntaxKind.AnyKeyword,
  },
  {
    what: 'an empty catch',
    instead: 'a comment inside that says why the error may be forgotten',
    within: 'src/',
    is: (node) =>
      ts.isCatchClause(node) &&
      node.block.statements.length === 0 &&
      !/\/[/*]/.test(
        node.block
          .getFullText()
          .replace(/^\s*\{/, '')
          .replace(/\}$/, ''),
      ),
  },
  {
    what: 'an ignored type error or lint rule without its reason',
    instead: 'the fix, or the reason after a colon',
    within: '',
    is: (node, { text }) =>
      ts.isSourceFile(node) && /@ts-(ignore|nocheck)|@ts-expect-error\s*$|eslint-disable(?!.*--)|biome-ignore [\w/]+: *$/m.test(text),
  },
  {
    what: 'a test that does not run',
    instead: 'the test, or no test',
    within: 'test/',
    is: (node) => ts.isCallExpression(node) && TEST_MODIFIERS.test(node.expression.getText()),
  },
  {
    what: 'less time for a test than all tests have',
    instead: 'the time of vitest.config.ts: only a hang may take it, on a loaded machine, too',
    within: 'test/',
    is: (node) =>
      ts.isCallExpression(node) &&
      TESTS.test(node.expression.getText()) &&
      node.arguments.some(ts.isFunctionLike) &&
      node.arguments.some(isLittleTime),
  },
  {
    what: 'a fixed sleep',
    instead: 'expect.poll, an event, or the virtual clock: wait for a condition',
    within: 'test/',
    is: (node) => {
      if (!isCallOf(node, 'setTimeout', 'sleep') || !ts.isCallExpression(node)) return false
      const [what, time] = node.expression.getText() === 'sleep' ? [undefined, node.arguments[0]] : [node.arguments[0], node.arguments[1]]
      const resolves = what === undefined || /^(r|res|resolve|done)$/.test(what.getText())
      return resolves && time !== undefined && ts.isNumericLiteral(time) && Number(time.text) >= 100
    },
  },
]

/** This folder spells out what it forbids. */
const OWN = 'test/tidy/'

function offences(source: Source): string[] {
  const { path, ast } = source
  const place = path.replace(/^packages\/[\w-]+\//, '')
  const bans = BANS.filter(
    ({ within, except }) => [place, path].some((each) => each.startsWith(within)) && !except?.some((prefix) => path.startsWith(prefix)),
  )
  const found: string[] = []
  walk(ast, (node) => {
    for (const { what, instead, is } of bans) {
      if (is(node, source)) found.push(`${path}:${lineOf(ast, node)}: ${what}; use ${instead}`)
    }
  })
  return found
}

test.each(['src', 'packages', 'test', 'scripts', 'bench', 'diagrams'])('nothing banned is used in %s/', (folder) => {
  const all = sources(folder).filter(({ path }) => !path.startsWith(OWN))
  expect(all.flatMap(offences)).toEqual([])
})

describe('the bans see', () => {
  test.each([
    ['src/x.ts', 'const t = Date.now()'],
    ['src/x.ts', 'const options = { now: Date.now }'],
    ['src/x.ts', 'const t = new Date()'],
    ['src/x.ts', 'setTimeout(() => undefined, 5)'],
    ['src/x.ts', 'globalThis.setTimeout(() => undefined, 5)'],
    ['src/x.ts', "import { setTimeout as sleep } from 'node:timers/promises'"],
    ['src/x.ts', 'setImmediate(then)'],
    ['src/x.ts', "import { timer } from 'rxjs'"],
    ['src/x.ts', "import { delay as later } from 'rxjs/operators'"],
    ['src/x.ts', "console.log('x')"],
    ['src/x.ts', 'process.exit(1)'],
    ['src/x.ts', 'const jitter = Math.random()'],
    ['src/x.ts', 'const isThere = existsSync(file)'],
    ['src/x.ts', 'const text = readFileSync(`/proc/${pid}/cmdline`)'],
    ['src/x.ts', 'const own = networkInterfaces()'],
    ['src/x.ts', "const home = process.env['HOME']"],
    ['src/x.ts', 'const { HOME } = env'],
    ['src/x.ts', 'const here = new URL("..", import.meta.url)'],
    ['packages/model/src/x.ts', 'const here = import.meta.dirname'],
    ['packages/apiserver/src/x.ts', "const VERBS: Readonly<Record<string, string>> = { GET: 'get' }"],
    ['src/http/x.ts', "const VERBS: Readonly<Record<string, string>> = { GET: 'get' }"],
    ['src/x.ts', 'const queued = socket._handle'],
    ['src/x.ts', "const queued = socket['_handle']"],
    ['src/x.ts', "const isOfNode = '_maxRequestsPerSocket' in response"],
    ['src/x.ts', 'const { _parent: accepted } = socket'],
    ['src/x.ts', 'interface Parsed { readonly parser?: unknown }'],
    ['src/x.ts', 'const x = y as any'],
    ['src/x.ts', 'let x: any'],
    ['src/x.ts', 'try { f() } catch {}'],
    ['src/x.ts', '// @ts-ignore\nf()'],
    ['test/x.ts', 'const x = y as any'],
    ['test/x.test.ts', "test.only('x', () => {})"],
    ['test/x.test.ts', "describe.skip('x', () => {})"],
    ['test/x.test.ts', 'await new Promise((resolve) => setTimeout(resolve, 500))'],
    ['test/x.test.ts', 'await sleep(1_000)'],
    ['test/x.test.ts', "test.each([1])('x', { timeout: 60_000 }, () => {})"],
    ['test/x.test.ts', "test('x', () => {}, 60_000)"],
  ])('in %s: %s', (path, text) => {
    expect(offences(parse(path, text))).toHaveLength(1)
  })

  test.each([
    ['src/base/clock.ts', 'export const now = () => Date.now()'],
    ['src/x.ts', 'clock.setTimeout(() => undefined, 5)'],
    ['src/x.ts', 'const t = new Date(clock.wall())'],
    ['src/x.ts', 'const text = "console.log(Date.now())" // console.log'],
    ['src/x.ts', 'try { f() } catch {\n  // Gone already: that is what we wanted.\n}'],
    ['src/x.ts', "const isThere = look(() => readFileSync('/proc/1/cmdline'))"],
    ['src/x.ts', "const home = variable(process.env, 'HOME')"],
    ['src/x.ts', 'const here = () => import.meta.url'],
    ['src/cli/x.ts', 'process.exit(2)'],
    ['src/x.ts', 'stream._write = write'],
    ['src/x.ts', 'const { tls: _, ...rest } = given'],
    ['test/x.test.ts', 'await sleep(pauseMs)'],
    ['test/x.test.ts', "test('x', { timeout: 600_000 }, () => {})"],
    ['test/x.test.ts', "test('x', { timeout: 0 }, () => {})"],
    ['test/x.test.ts', 'setTimeout(() => response.end(), 500)'],
  ])('nothing wrong in %s: %s', (path, text) => {
    expect(offences(parse(path, text))).toEqual([])
  })
})
