// @ts-check
// What is published: the sources as few files, with source maps that lead back to them.
import { readFileSync } from 'node:fs'

const { dependencies, peerDependencies } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
const packages = Object.keys({ ...dependencies, ...peerDependencies })

/**
 * Packages stay packages, so that a program's own inspector sees the xstate that we use. But one class of rxjs is all we need of it, and any
 * copy's operators take what it gives: ten files of CommonJS less to load.
 * @param {string} id
 */
const isExternal = (id) =>
  id.startsWith('node:') || (!id.startsWith('rxjs/internal/') && packages.some((name) => id === name || id.startsWith(`${name}/`)))

/** What programs import, by the name of the bundle. */
export const ENTRIES = {
  index: 'src/index.ts',
  apiserver: 'src/apiserver/index.ts',
  metrics: 'src/metrics/index.ts',
  testing: 'src/testing/index.ts',
  opentelemetry: 'src/opentelemetry/index.ts',
  hono: 'src/frameworks/hono.ts',
  fastify: 'src/frameworks/fastify.ts',
  nest: 'src/frameworks/nest.ts',
}

/**
 * Packages that an option needs, and not every program has. webpack takes one that it does not find for an error, unless it is to leave it alone;
 * esbuild, unless what fails is caught.
 */
const OPTIONAL = ['elkjs', 'jose', 'ws', 'yaml'].join('|')
/** @param {string} code */
const tolerant = (code) =>
  code
    .replace(new RegExp(`\\bimport\\("(${OPTIONAL})"\\)`, 'g'), 'import(/* webpackIgnore: true */ "$1").catch((error) => { throw error; })')
    .replace(
      new RegExp(`\\brequire\\("(${OPTIONAL})"\\)`, 'g'),
      '(() => { try { return require("$1"); } catch (error) { throw error; } })()',
    )

/** For node, it would take rxjs as CommonJS. @satisfies {import('rolldown').BuildOptions} */
const ours = {
  platform: 'neutral',
  resolve: { conditionNames: ['quiesce-source', 'es2015', 'import', 'default'] },
  external: isExternal,
  // One file for both kinds of modules, which stand in folders of the same depth.
  plugins: [
    { name: 'page', resolveId: (/** @type {string} */ id) => (id === '#page' ? { id: '../inspector-page.cjs', external: true } : null) },
    { name: 'optional packages', renderChunk: (/** @type {string} */ code) => ({ code: tolerant(code), map: null }) },
  ],
}
// What the comments of functions say stands in the types, and in the sources of the maps.
const comments = { jsdoc: false }

/** The page of the inspector, which build.mjs makes a file of with the page's other files. @type {import('rolldown').BuildOptions & { output: import('rolldown').OutputOptions }} */
export const PAGE = {
  input: { main: 'packages/inspector-page/src/main.ts' },
  platform: 'browser',
  output: { dir: 'build/page', entryFileNames: '[name].js' },
}

/**
 * ES modules for programs; and CommonJS for what cannot load those, such as Jest, without the
 * command and without maps.
 * @type {(import('rolldown').BuildOptions & { output: import('rolldown').OutputOptions })[]}
 */
export default [
  {
    ...ours,
    input: { ...ENTRIES, cli: 'src/cli/main.ts' },
    output: {
      comments,
      dir: 'dist',
      entryFileNames: '[name].js',
      chunkFileNames: 'chunks/[name].js',
      sourcemap: true,
      cleanDir: true,
      // Each with what it imports. The command listens for stop signals before it loads anything
      // else; a server is one file.
      codeSplitting: {
        groups: [
          { name: 'stop-signals', test: /src\/(options\/stop-signals|process\/os-signals)\.ts$/, priority: 2 },
          { name: 'server', test: /src\/index\.ts$/, priority: 1 },
        ],
      },
    },
  },
  {
    ...ours,
    input: ENTRIES,
    output: {
      comments,
      format: 'cjs',
      dir: 'dist/cjs',
      entryFileNames: '[name].cjs',
      chunkFileNames: '[name].cjs',
      exports: 'named',
      esModule: true,
      dynamicImportInCjs: false,
      // By name, as an entry of the same name is another file.
      codeSplitting: { groups: [{ name: 'server', test: /src\/index\.ts$/ }] },
    },
  },
]
