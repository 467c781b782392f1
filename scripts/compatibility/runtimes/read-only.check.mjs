// No /proc, and a file system that is read-only
// variants: Node 20; Node 26
// note: in namespaces of its own, where the system has `unshare` and lets it be used
import { spawnSync } from 'node:child_process'

/** @param {import('../../compatibility.mjs').Cell} cell */
export default async ({ variant, runtime, write, server, drains }) => {
  const program = write('server.mjs', server())
  const script = 'mount --make-rprivate / && mount -t tmpfs none /proc && mount -o remount,ro,bind / && exec "$@"'
  const isolated = ['unshare', '--mount', '--map-root-user', 'sh', '-c', script, 'sh']
  const [command = '', ...args] = isolated
  if (spawnSync(command, [...args, 'true']).status !== 0) return
  await drains([...isolated, ...runtime(variant), program])
}
