// @ts-check
// What is published: the sources as few files, with source maps that lead back to them.
import own from '../package.json' with { type: 'json' }

const packages = [...Object.keys(own.dependencies), ...Object.keys(own.peerDependencies)]

/** What programs import, by the name of the bundle. */
export const ENTRIES = { index: 'src/index.ts', testing: 'src/testing/index.ts', opentelemetry: 'src/opentelemetry/index.ts' }

/** @type {(import('rolldown').BuildOptions & { output: import('rolldown').OutputOptions })[]} */
export default [
  {
    input: { ...ENTRIES, cli: 'src/cli/main.ts' },
    platform: 'node',
    resolve: { conditionNames: ['quiesce-source', 'node', 'import', 'default'] },
    // What a program has anyway stays one copy: its inspector has to see the same xstate, its operators the same rxjs.
    external: (id) => packages.some((name) => id === name || id.startsWith(`${name}/`)),
    output: { dir: 'dist', entryFileNames: '[name].js', chunkFileNames: 'chunks/[name].js', sourcemap: true, cleanDir: true },
  },
  {
    input: { main: 'packages/inspector-page/src/main.ts' },
    platform: 'browser',
    output: { dir: 'dist/inspector/page', entryFileNames: '[name].js' },
  },
]
