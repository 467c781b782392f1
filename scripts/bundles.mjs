// @ts-check
// What is published: the sources as few files. Maps would be three times as large, and lead to
// sources that are not published; the bundles name the file that each part comes from.
import { readFileSync } from 'node:fs'
import { dts } from 'rolldown-plugin-dts'
import { lines, SMALL } from './small-copy.mjs'

/** The packages that one has. @param {string} manifest */
const packagesOf = (manifest) => {
  const { dependencies, peerDependencies } = JSON.parse(readFileSync(new URL(`../${manifest}`, import.meta.url), 'utf8'))
  return Object.keys({ ...dependencies, ...peerDependencies })
}
const packages = packagesOf('package.json')
const packagesOfApiServer = packagesOf('packages/apiserver/package.json')

/**
 * Packages stay packages, so that a program's own inspector sees the xstate that we use. But few parts of rxjs are all we need of it, and any
 * copy's operators take what they give: files of CommonJS less to load.
 */
const isExternalTo = (/** @type {readonly string[]} */ all) => (/** @type {string} */ id) =>
  id.startsWith('node:') || (!id.startsWith('rxjs/internal/') && all.some((name) => id === name || id.startsWith(`${name}/`)))

/** What programs import, by the name of the bundle. */
export const ENTRIES = {
  index: 'src/index.ts',
  metrics: 'src/metrics/index.ts',
  testing: 'src/testing/index.ts',
  opentelemetry: 'src/opentelemetry/index.ts',
  hono: 'src/frameworks/hono.ts',
  fastify: 'src/frameworks/fastify.ts',
  nest: 'src/frameworks/nest.ts',
}

/** What other packages of this project build on, as ES modules alone: theirs are no others. */
export const ENGINE = {
  engine: 'src/engine/index.ts',
  'engine-main': 'src/engine/main.ts',
  'engine-command': 'src/engine/command.ts',
}

/** Those of @quiesce/apiserver. */
export const API_SERVER = {
  index: 'packages/apiserver/src/index.ts',
  testing: 'packages/apiserver/src/testing/index.ts',
  opentelemetry: 'packages/apiserver/src/tracing/index.ts',
}

/**
 * Packages that an option needs, and not every program has. webpack takes one that it does not find for an error, unless it is to leave it alone;
 * esbuild, unless what fails is caught.
 */
const OPTIONAL = ['elkjs', 'ws', 'yaml']
const OPTIONAL_OF_API_SERVER = ['@grpc/grpc-js']
/** @param {string} code @param {readonly string[]} names */
const tolerant = (code, names) =>
  code
    .replace(
      new RegExp(`\\bimport\\("(${names.join('|')})"\\)`, 'g'),
      'import(/* webpackIgnore: true */ "$1").catch((error) => { throw error; })',
    )
    .replace(
      new RegExp(`\\brequire\\("(${names.join('|')})"\\)`, 'g'),
      '(() => { try { return require("$1"); } catch (error) { throw error; } })()',
    )
/** @param {readonly string[]} names @returns {import('rolldown').Plugin} */
const optional = (names) => ({ name: 'optional packages', renderChunk: (code) => ({ code: tolerant(code, names), map: null }) })

/**
 * One character beyond Latin-1 doubles what a process keeps of the text of a file for as long as it
 * lives: V8 has two bytes for each of them then.
 * @type {import('rolldown').Plugin}
 */
const ascii = {
  name: 'ascii',
  generateBundle(_, bundle) {
    for (const file of Object.values(bundle))
      if (file.type === 'chunk')
        file.code = file.code.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
  },
}

/** For node, it would take rxjs as CommonJS. @satisfies {import('rolldown').BuildOptions} */
const ours = {
  platform: 'neutral',
  resolve: { conditionNames: ['quiesce-source', 'es2015', 'import', 'default'] },
  external: isExternalTo(packages),
  // One file for both kinds of modules, which stand in folders of the same depth.
  plugins: [
    { name: 'page', resolveId: (/** @type {string} */ id) => (id === '#page' ? { id: '../inspector-page.cjs', external: true } : null) },
    optional(OPTIONAL),
    ascii,
  ],
}
// What the comments of functions say stands in the types.
const comments = { jsdoc: false }

/**
 * The doors of @quiesce/apiserver are files of the core in this repository, and entries of the package
 * `quiesce` when both are published.
 * @type {import('rolldown').Plugin}
 */
const doors = {
  name: 'doors',
  resolveId: (id) => {
    const door = /^\.{1,2}\/(?:.*\/)?engine(-main|-command)?\.[jt]s$/.exec(id)
    return door ? { id: `quiesce/engine${(door[1] ?? '').replace('-', '/')}`, external: true } : null
  },
}

/**
 * The declarations, of what tsc has made: those of an entry, and in types/ what several have in
 * common. What no entry names is left out.
 * @param {Readonly<Record<string, string>>} entries @param {string} dir
 * @param {import('rolldown').Plugin[]} [plugins]
 * @returns {import('rolldown').BuildOptions & { output: import('rolldown').OutputOptions }}
 */
const types = (entries, dir, plugins = []) => ({
  input: Object.fromEntries(Object.entries(entries).map(([name, source]) => [name, `build/${source.replace(/ts$/, 'd.ts')}`])),
  external: (id) => !/^[./#]/.test(id),
  plugins: [...plugins, dts({ dtsInput: true, emitDtsOnly: true, tsconfig: false })],
  checks: { bundlerTimings: false },
  output: { dir, entryFileNames: '[name].d.ts', chunkFileNames: 'types/[name].d.ts', minifyInternalExports: false },
})
export const TYPES = [types({ ...ENTRIES, ...ENGINE }, 'dist'), types(API_SERVER, 'packages/apiserver/dist', [doors])]

/**
 * Files that both copies have. Each has what it imports beside, unless a file of a higher priority
 * has that; its name is none of an entry. A server is one file, and who only counts does not load it.
 * What is small and needed by both the server and another file stands with the server.
 */
const GROUPS = [
  { name: 'measuring', test: /src\/metrics\/index\.ts$/, priority: 8 },
  { name: 'server', test: /src\/(index|lifecycle\/is-life|endpoints\/profile-names|model\/life\/outside-events)\.ts$/, priority: 7 },
]

/**
 * Files of the command and of what is loaded when it is needed: as few as there are occasions. The
 * command listens for stop signals before it loads anything but the first two.
 */
const OCCASIONS = [
  { name: 'stop-signals', test: /src\/(options\/rows\/stop-signals|process\/os-signals)\.ts$/, priority: 9 },
  { name: 'program', test: /src\/cli\/(program|api-server-program)\.ts$/, priority: 8 },
  { name: 'virtual-clock', test: /src\/base\/virtual-clock\.ts$/, priority: 5 },
  { name: 'diagram', test: /src\/diagram\//, priority: 4 },
  { name: 'model', test: /src\/model\/|packages\/model\//, priority: 4 },
  { name: 'routes', test: /src\/(routes\/|endpoints\/profiles|listeners\/debug-socket)/, priority: 3 },
  { name: 'certificates', test: /src\/tls\//, priority: 3 },
  { name: 'inspector', test: /src\/inspector\/server\//, priority: 3 },
  {
    name: 'command',
    test: /src\/(cli\/(command-host|command-names|flags|load-app|read-text|run|config-file)|process\/package-file)\.ts$/,
    priority: 2,
  },
  { name: 'command-pages', test: /src\/cli\/(command-pages|help|completion\/\w+)\.ts$/, priority: 1 },
]

/** The page of the inspector, which build.mjs makes a file of with the page's other files. @type {import('rolldown').BuildOptions & { output: import('rolldown').OutputOptions }} */
export const PAGE = {
  input: { main: 'packages/inspector-page/src/main.ts' },
  platform: 'browser',
  output: { dir: 'build/page', entryFileNames: '[name].js', minify: true },
}

/**
 * ES modules for programs; and CommonJS for what cannot load those, such as Jest, without the
 * command.
 * @type {(import('rolldown').BuildOptions & { output: import('rolldown').OutputOptions })[]}
 */
export default [
  {
    ...ours,
    input: { ...ENTRIES, ...ENGINE, cli: 'src/cli/main.ts' },
    // The name of a source file before each of its parts is 18 kB in all.
    experimental: { attachDebugInfo: 'none' },
    output: {
      comments,
      dir: 'dist',
      entryFileNames: '[name].js',
      chunkFileNames: 'chunks/[name].js',
      cleanDir: true,
      codeSplitting: { groups: [...GROUPS, ...OCCASIONS] },
    },
  },
  {
    ...ours,
    plugins: [...ours.plugins, lines],
    input: ENTRIES,
    output: {
      ...SMALL,
      // What may be left out when nothing uses it is read of ES modules alone.
      comments: { ...comments, annotation: false },
      format: 'cjs',
      dir: 'dist/cjs',
      entryFileNames: '[name].cjs',
      chunkFileNames: '[name].cjs',
      exports: 'named',
      esModule: true,
      dynamicImportInCjs: false,
      codeSplitting: { groups: GROUPS },
    },
  },
  {
    platform: 'neutral',
    resolve: { conditionNames: ['es2015', 'import', 'default'] },
    external: isExternalTo(packagesOfApiServer),
    plugins: [doors, optional(OPTIONAL_OF_API_SERVER), ascii],
    input: { ...API_SERVER, cli: 'packages/apiserver/src/cli/main.ts', page: 'packages/apiserver/src/cli/page.ts' },
    output: { comments, dir: 'packages/apiserver/dist', entryFileNames: '[name].js', chunkFileNames: 'chunks/[name].js', cleanDir: true },
  },
]
