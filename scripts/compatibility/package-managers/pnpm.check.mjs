// pnpm, which links nothing but the packages that are named
// packages: pnpm
// set: package-managers
// variants: Node 20; Node 24
import { join } from 'node:path'

/** @param {import('../../compatibility.mjs').Cell} cell */
export default async ({ variant, folder, modules, tarball, write, server, run, drains, runtime }) => {
  const node = runtime(variant)
  write('package.json', JSON.stringify({ private: true, type: 'module', dependencies: { quiesce: `file:${tarball}` } }))
  write('.npmrc', `hoist=false\nstore-dir=${join(folder, 'store')}\ncache-dir=${join(folder, 'cache')}\n`)
  await run([...node, join(modules, 'pnpm/bin/pnpm.cjs'), 'install', '--ignore-workspace', '--no-frozen-lockfile'])
  write('server.mjs', server())
  await drains([...node, join(folder, 'server.mjs')])
}
