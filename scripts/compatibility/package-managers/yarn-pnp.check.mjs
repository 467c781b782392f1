// Yarn 4, Plug'n'Play
// packages: @yarnpkg/cli-dist
// set: package-managers
// variants: Node 20; Node 24
import { join } from 'node:path'

/** There is no node_modules: what a package imports and does not name among its dependencies is not found. @param {import('../../compatibility.mjs').Cell} cell */
export default async ({ variant, folder, modules, tarball, write, server, run, drains, runtime }) => {
  const node = runtime(variant)
  write('package.json', JSON.stringify({ private: true, type: 'module', dependencies: { quiesce: `file:${tarball}` } }))
  write('yarn.lock', '')
  write(
    '.yarnrc.yml',
    `nodeLinker: pnp\nenableGlobalCache: false\nenableTelemetry: false\nnpmRegistryServer: https://registry.npmjs.org\ncacheFolder: ${join(folder, 'cache')}\nglobalFolder: ${join(folder, 'global')}\n`,
  )
  const yarn = join(modules, '@yarnpkg/cli-dist/bin/yarn.js')
  await run([...node, yarn, 'install', '--no-immutable'])
  write('server.mjs', server())
  await drains([...node, '--require', join(folder, '.pnp.cjs'), '--loader', join(folder, '.pnp.loader.mjs'), join(folder, 'server.mjs')])
}
