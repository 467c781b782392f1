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

/** @type {(import('rolldown').BuildOptions & { output: import('rolldown').OutputOptions })[]} */
export default [
  {
    input: { ...ENTRIES, cli: 'src/cli/main.ts' },
    // For node, it would take rxjs as CommonJS.
    platform: 'neutral',
    resolve: { conditionNames: ['quiesce-source', 'es2015', 'import', 'default'] },
    external: isExternal,
    output: {
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
    input: { main: 'packages/inspector-page/src/main.ts' },
    platform: 'browser',
    output: { dir: 'dist/inspector/page', entryFileNames: '[name].js' },
  },
]
