import { describe, expect, test } from 'vitest'
import { type Import, parse, read, type Source, sources } from './sources.ts'

/**
 * Imports go one way: a folder of `src/` loads itself and what stands above it in this list, and of
 * packages only those named. So a reader who starts at the top never meets a word that comes later.
 */
interface Layer {
  /** A folder, or one file, by its beginning. */
  readonly place: string
  /** Packages by name; `node:` for all of node, `#model` for the package of this repository,
   * `#page` for the files of the inspector's page. */
  readonly loads: readonly string[]
  /**
   * Loaded when first needed, with `await import()`: a program that does not need them does not pay
   * for them.
   */
  readonly lazy?: readonly string[]
  /** Named in types only. */
  readonly types?: readonly string[]
  /** When it may not load everything above it: what it may. Types are not bound by that. */
  readonly only?: readonly string[]
}

const LAYERS: readonly Layer[] = [
  // A package of its own, for any system: of this project it knows nothing.
  { place: 'packages/model/src/errors.ts', loads: [] },
  { place: 'packages/model/src/near.ts', loads: [] },
  { place: 'packages/model/src/options.ts', loads: [] },
  { place: 'packages/model/src/engine/', loads: ['xstate'], only: ['packages/model/'] },
  { place: 'packages/model/src/properties/', loads: ['xstate'], only: ['packages/model/'] },
  { place: 'packages/model/src/mermaid.ts', loads: [] },
  { place: 'packages/model/src/trace-diagram.ts', loads: [], only: ['packages/model/'] },
  { place: 'packages/model/src/promela/', loads: [], only: ['packages/model/'] },
  { place: 'packages/model/src/index.ts', loads: [], only: ['packages/model/'] },
  { place: 'packages/model/src/cli.ts', loads: ['node:'], types: ['xstate'], only: ['packages/model/'] },
  { place: 'src/base/cells.ts', loads: ['node:util'] },
  { place: 'src/base/node-http.ts', loads: ['node:module'], types: ['node:'] },
  { place: 'src/base/', loads: [], types: ['node:'] },
  { place: 'src/platforms/', loads: ['node:'] },
  { place: 'src/machines/', loads: ['xstate'] },
  // Drawn in pages, too: of machines it knows the names of signals, and the shape of what it is
  // given.
  { place: 'src/diagram/drawing/', loads: [], only: ['src/machines/signals.ts'] },
  { place: 'src/diagram/', loads: ['xstate'], lazy: ['elkjs'], types: ['elkjs'] },
  { place: 'src/log/', loads: ['node:'], lazy: ['pino'], types: ['pino'] },
  { place: 'src/report/', loads: ['node:'] },
  // Loaded only where people read standard output.
  { place: 'src/terminal/', loads: ['node:'], only: ['src/base/', 'src/log/', 'src/platforms/', 'src/report/'] },
  // An entry of its own: what other parts count with.
  { place: 'src/metrics/', loads: [], only: ['src/base/'] },
  { place: 'src/http/', loads: ['node:'], types: ['hono'], only: ['src/base/', 'src/machines/signals.ts', 'src/report/diagnostics.ts'] },
  // What a life answers by itself, and the same as Hono apps, which are loaded where they are used.
  { place: 'src/endpoints/', loads: ['node:'], only: ['src/base/', 'src/http/', 'src/metrics/'] },
  {
    place: 'src/routes/',
    loads: ['node:', 'hono', '@hono/node-server'],
    only: ['src/base/', 'src/http/', 'src/metrics/', 'src/endpoints/'],
  },
  // Loaded only by servers with TLS.
  { place: 'src/tls/', loads: ['node:'], only: ['src/base/'] },
  { place: 'src/actors/', loads: ['node:', 'rxjs', 'xstate'] },
  { place: 'src/options/', loads: ['node:'] },
  { place: 'src/process/', loads: ['node:', 'rxjs', 'xstate'] },
  // What a life listens with: its own servers, the admin listener, the debug socket.
  { place: 'src/listeners/', loads: ['node:'] },
  { place: 'src/lifecycle/', loads: ['node:', 'rxjs', 'xstate'] },
  { place: 'src/inspector/protocol.ts', loads: [] },
  // The page runs in browsers. What it takes of ours is listed in one file; its core needs no
  // browser either.
  {
    place: 'packages/inspector-page/src/quiesce.ts',
    loads: [],
    only: ['src/base/', 'src/report/', 'src/machines/exit-codes.ts', 'src/diagram/drawing/'],
  },
  { place: 'packages/inspector-page/src/core/', loads: [], only: ['packages/inspector-page/src/quiesce.ts'] },
  { place: 'packages/inspector-page/src/', loads: [], only: ['packages/inspector-page/src/core/'] },
  { place: 'src/inspector/reading.ts', loads: [] },
  { place: 'src/inspector/server/', loads: ['node:', 'hono', '@hono/node-server'], lazy: ['ws', '#page'], types: ['ws'] },
  { place: 'src/inspector/', loads: ['node:', 'rxjs', 'xstate'] },
  // An entry of its own, for those who have the package.
  { place: 'src/opentelemetry/', loads: ['@opentelemetry/api'], only: ['src/base/', 'src/machines/exit-codes.ts', 'src/report/view.ts'] },
  { place: 'src/create-life.ts', loads: ['node:'] },
  { place: 'src/create-server.ts', loads: ['node:'], lazy: ['@hono/node-server', 'pino'], types: ['hono'] },
  { place: 'src/attach.ts', loads: ['node:'] },
  // Entries of their own, for those who have the framework.
  { place: 'src/frameworks/', loads: ['node:', 'rxjs', '@nestjs/core'], types: ['hono', 'fastify'] },
  { place: 'src/model/', loads: ['xstate', '#model'] },
  { place: 'src/testing/', loads: ['node:', 'rxjs', 'xstate'] },
  // The example and the command are programs of their own: they need all of it.
  { place: 'src/example/', loads: ['node:', 'hono', '@hono/node-server'] },
  { place: 'src/cli/', loads: ['node:', '#model', 'rxjs', 'xstate', 'hono', '@hono/node-server', 'pino'], lazy: ['yaml'] },
  // What packages build on that are published beside this one.
  { place: 'src/engine/', loads: [] },
  // The generic API server: a package of its own, built on the engine. Its machines are as pure as
  // those of the life.
  { place: 'packages/apiserver/src/audit/batches.ts', loads: ['xstate'], only: [] },
  { place: 'packages/apiserver/src/store/store-machine.ts', loads: ['xstate'], only: [] },
  { place: 'packages/apiserver/src/leases/election.ts', loads: ['xstate'], only: [] },
  { place: 'packages/apiserver/src/engine.ts', loads: [], only: ['src/engine/'] },
  { place: 'packages/apiserver/src/tracing/', loads: ['@opentelemetry/api'], only: ['packages/apiserver/src/engine.ts'] },
  {
    place: 'packages/apiserver/src/',
    loads: ['node:', 'rxjs', 'xstate', 'hono'],
    lazy: ['jose', 'yaml', '@grpc/grpc-js'],
    types: ['jose', '@grpc/grpc-js'],
  },
  { place: 'src/index.ts', loads: [] },
]

/** What a place does not name, not even in a type; `except` of it may be named. */
interface Seam {
  readonly from: (path: string) => boolean
  readonly never: readonly string[]
  readonly except?: readonly string[]
}

const within =
  (...places: readonly string[]) =>
  (path: string): boolean =>
    places.some((place) => path.startsWith(place))

/**
 * Protocols are behind `src/http/ports.ts` and `transport.ts`: the traffic knows none of them, one
 * file knows which there are, and they know of the traffic what the ports say. What ends a socket
 * gently is theirs to use.
 */
const TRANSPORTS = ['src/http/h1/', 'src/http/h2/', 'src/http/tls/', 'src/http/upgraded/']
const SEAM = ['src/http/ports.ts', 'src/http/transport.ts']
const PROTOCOLS = ['node:http', 'node:https', 'node:http2', 'node:tls']
const DOORS = ['engine.ts', 'cli/engine-main.ts', 'cli/engine-command.ts'].map((file) => `packages/apiserver/src/${file}`)
const SEAMS: readonly Seam[] = [
  // The API server comes through one door, and knows nothing else of the core; not even in a type.
  { from: within(...DOORS), never: ['src/'], except: ['src/engine/'] },
  { from: (path) => path.startsWith('packages/apiserver/src/') && !DOORS.includes(path), never: ['src/'] },
  // Filters know nothing of what is behind them, and resources nothing of who has let a request in.
  { from: within('packages/apiserver/src/chain/'), never: ['packages/apiserver/src/groups/'] },
  { from: within('packages/apiserver/src/groups/'), never: ['packages/apiserver/src/chain/'] },
  { from: (path) => !within(...TRANSPORTS, 'src/http/transports.ts')(path), never: TRANSPORTS },
  {
    from: within('src/http/traffic/', ...SEAM),
    never: ['src/http/', ...PROTOCOLS],
    except: [
      'src/http/traffic/',
      ...SEAM,
      ...['after-poll', 'chain', 'exchange-of', 'plain-answer', 'respond'].map((name) => `src/http/${name}.ts`),
    ],
  },
  { from: within(...SEAM, ...TRANSPORTS), never: ['src/http/traffic/'], except: ['src/http/traffic/lingering.ts'] },
]

const crossings = (all: readonly Source[]): string[] =>
  SEAMS.flatMap(({ from, never, except = [] }) =>
    all
      .filter(({ path }) => from(path))
      .flatMap(({ path, imports }) =>
        imports
          .filter(({ specifier, target }) => (target === undefined ? isOf(never, specifier) : within(...never)(target)))
          .filter(({ target }) => target === undefined || !within(...except)(target))
          .map(({ line, specifier }) => `${path}:${line}: import of ${specifier}`),
      ),
  )

/** What is loaded by programs of others. */
const OURS: readonly Source[] = [...sources('src'), ...sources('packages').filter(({ path }) => /^packages\/[\w-]+\/src\//.test(path))]

const rankOf = (path: string): number => LAYERS.findIndex(({ place }) => path.startsWith(place))

const isOf = (packages: readonly string[], what: string): boolean =>
  packages.some((name) => (name.endsWith(':') ? what.startsWith(name) : what === name || what.startsWith(`${name}/`)))

function allows(path: string, { specifier, target, kind }: Import): boolean {
  const rank = rankOf(path)
  const layer = LAYERS[rank]
  if (!layer) return false
  if (target === undefined) {
    const { loads, lazy = [], types = [] } = layer
    return isOf([...loads, ...(kind === 'static' ? [] : lazy), ...(kind === 'type' ? types : [])], specifier)
  }
  if (target.startsWith(layer.place)) return true
  // Packages of ours are loaded by their names: what is inside is theirs.
  if (target.startsWith('packages/') && !path.startsWith('packages/')) return false
  if (rankOf(target) < 0 || rankOf(target) > rank) return false
  return kind === 'type' || layer.only === undefined || layer.only.some((place) => target.startsWith(place))
}

const violations = (all: readonly Source[]): string[] =>
  all.flatMap(({ path, imports }) =>
    imports.filter((entry) => !allows(path, entry)).map(({ line, kind, specifier }) => `${path}:${line}: ${kind} import of ${specifier}`),
  )

describe('imports', () => {
  test('go in the allowed directions only', () => {
    expect(violations(OURS)).toEqual([])
  })

  test('go around no seam', () => {
    expect(crossings(OURS)).toEqual([])
  })

  test('name every place that there is, and no other', () => {
    const paths = OURS.map(({ path }) => path)
    expect(paths.filter((path) => rankOf(path) < 0)).toEqual([])
    expect(LAYERS.filter(({ place }) => !paths.some((path) => path.startsWith(place)))).toEqual([])
  })

  test('of sources name nothing of the tests', () => {
    const strays = OURS.flatMap(({ path, imports }) =>
      imports.filter(({ target }) => target !== undefined && /(^|\/)test\//.test(target)).map(() => path),
    )
    expect(strays).toEqual([])
  })
})

/** The folders that a reader meets, with the packages that each loads, as the rules have them. */
function loadedByFolder(): readonly (readonly [string, readonly string[]])[] {
  const folders = new Map<string, Set<string>>()
  for (const { place, loads, lazy = [] } of LAYERS) {
    const [, folder] = /^(?:src\/(\w+\/)|(?=packages\/apiserver\/))/.exec(place) ?? []
    const name = folder ?? (place.startsWith('packages/apiserver/') ? 'packages/apiserver/src/' : undefined)
    if (name === undefined) continue
    const all = folders.get(name) ?? new Set()
    for (const loaded of [...loads, ...lazy])
      if (loaded !== '#page') all.add(loaded === '#model' ? '@quiesce/model' : loaded.replace(/^(node):.*/, '$1'))
    folders.set(name, all)
  }
  return [...folders].map(([name, all]) => [name, [...all].sort()])
}

test('docs/architecture.md has the folders in the order of the rules, with what each loads', () => {
  const packages = [...new Set(loadedByFolder().flatMap(([, all]) => all))]
  const named = (cell: string): string[] => packages.filter((name) => cell.split(/[\s,;]+/).includes(name)).sort()
  const rows = [...read('docs/architecture.md').matchAll(/^\| `([\w/]+\/)` \| .* \| (.*) \|$/gm)]
  expect(rows.map(([, folder, cell = '']) => [folder, named(cell)])).toEqual(loadedByFolder())
})

describe('the rules see', () => {
  test.each([
    ['a machine that reads a file', 'src/machines/x.ts', "import { readFileSync } from 'node:fs'"],
    ['a machine that names an actor in a type', 'src/machines/x.ts', "import type { Host } from '../actors/host.ts'"],
    ['a rule of all that names a machine', 'src/base/x.ts', "import type { Mode } from '../machines/wiring.ts'"],
    ['traffic that loads a machine', 'src/http/x.ts', "import { notifyClientsMachine } from '../machines/phases/notify-clients.ts'"],
    ['traffic that names an actor in a type', 'src/http/x.ts', "import type { Host } from '../actors/host.ts'"],
    ['a type import that still loads the file', 'src/http/x.ts', "import { type Mode } from '../machines/wiring.ts'"],
    ['an actor that loads the composition root', 'src/actors/x.ts', "export { Lifecycle } from '../lifecycle/lifecycle.ts'"],
    ['a logger loaded by everybody', 'src/create-server.ts', "import { pino } from 'pino'"],
    ['an adapter loaded by everybody', 'src/create-server.ts', "import { getRequestListener } from '@hono/node-server'"],
    [
      'a page that loads what browsers do not get',
      'packages/inspector-page/src/main.ts',
      "import { show } from '../../../src/base/errors.ts'",
    ],
    ['a part of a package', 'src/create-server.ts', "import { logger } from 'hono/logger'"],
    ['a package that loads ours', 'packages/model/src/engine/x.ts', "import { show } from '../../../../src/base/errors.ts'"],
    ['a core that knows what is built on it', 'src/actors/x.ts', "import { rbac } from '../../packages/apiserver/src/index.ts'"],
    ['a part of a package of ours', 'src/model/x.ts', "import { explore } from '../../packages/model/src/engine/explore.ts'"],
    ['the checker loaded by every server', 'src/lifecycle/x.ts', "import { explore } from '#model'"],
    ['a file in a place that is not in the list', 'src/new/x.ts', "import { show } from '../base/errors.ts'"],
  ])('%s', (_, path, text) => {
    expect(violations([parse(path, text)])).toHaveLength(1)
  })

  test.each([
    ['a lazy import', 'src/create-server.ts', "const load = () => import('@hono/node-server')"],
    ['traffic that names a machine in a type', 'src/http/x.ts', "import type { Mode } from '../machines/wiring.ts'"],
    ['an actor that loads a machine', 'src/actors/x.ts', "import { notifyClientsMachine } from '../machines/phases/notify-clients.ts'"],
    ['a part of rxjs', 'src/actors/x.ts', "import { map } from 'rxjs/operators'"],
  ])('nothing wrong with %s', (_, path, text) => {
    expect(violations([parse(path, text)])).toEqual([])
  })

  test.each([
    ['traffic that names a protocol', 'src/http/traffic/x.ts', "import type { ServerResponse } from 'node:http'"],
    ['traffic that names a transport', 'src/http/traffic/x.ts', "import type { Http1Wire } from '../h1/wire.ts'"],
    ['traffic that names the list of them', 'src/http/traffic/x.ts', "import { transportOf } from '../transports.ts'"],
    ['an actor that names a transport', 'src/actors/x.ts', "import type { Http1Wire } from '../http/h1/wire.ts'"],
    ['a transport that names the traffic', 'src/http/h2/x.ts', "import type { Exchange } from '../traffic/exchange.ts'"],
    ['a seam that names the traffic', 'src/http/ports.ts', "import type { Connection } from './traffic/connection.ts'"],
    [
      'an API server that names the core in a type',
      'packages/apiserver/src/x.ts',
      "import type { Life } from '../../../src/lifecycle/life.ts'",
    ],
    ['an API server that goes around its door', 'packages/apiserver/src/x.ts', "import { show } from '../../../src/engine/index.ts'"],
    ['a door to more than the engine', 'packages/apiserver/src/engine.ts', "export * from '../../../src/index.ts'"],
  ])('%s', (_, path, text) => {
    expect(crossings([parse(path, text)])).not.toEqual([])
  })

  test.each([
    ['traffic that names the seam', 'src/http/traffic/x.ts', "import type { Wire } from '../ports.ts'"],
    ['a transport that names the seam', 'src/http/h1/x.ts', "import type { WireExchange } from '../ports.ts'"],
    ['the door', 'packages/apiserver/src/engine.ts', "export * from '../../../src/engine/index.ts'"],
    ['an API server that comes through it', 'packages/apiserver/src/mux/x.ts', "import { show } from '../engine.ts'"],
    ['a transport that names its protocol', 'src/http/h1/x.ts', "import { Server } from 'node:http'"],
  ])('nothing around a seam in %s', (_, path, text) => {
    expect(crossings([parse(path, text)])).toEqual([])
  })
})
