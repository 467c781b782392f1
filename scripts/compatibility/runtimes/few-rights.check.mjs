// Few rights
// variants: Node 20; Node 22; Node 24; Node 26; Deno
// note: Node's permission model with nothing but `--allow-fs-read` of the packages and the program, and `--allow-net` where there is one; Deno with `--allow-net` and `--allow-read` of the same
import { realpathSync } from 'node:fs'

/** @param {import('../../compatibility.mjs').Cell} cell */
export default async ({ variant, modules, folder, runtime, write, run, server, drains }) => {
  const [own, packages] = [realpathSync(folder), realpathSync(modules)]
  const program = write('server.mjs', server())
  if (variant === 'Deno') {
    const [deno = ''] = runtime('Deno')
    await drains([deno, 'run', '--no-prompt', '--allow-net', `--allow-read=${own},${packages}`, program])
    return
  }
  const node = runtime(variant)
  const known = (await run([...node, '-p', '[...process.allowedNodeEnvironmentFlags].join(" ")'])).split(' ')
  const flag = known.includes('--permission') ? '--permission' : '--experimental-permission'
  const network = known.includes('--allow-net') ? ['--allow-net'] : []
  await drains([...node, flag, ...network, `--allow-fs-read=${own}/*`, `--allow-fs-read=${packages}/*`, program])
}
