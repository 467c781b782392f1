// The real kubectl against the example. Fails when: one of its commands ends otherwise than against
// a server of Kubernetes, or `get -w` is an error when the server ends.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { COMMAND_MS, useKubectl } from '../support/kubectl.ts'
import { TestProcess } from '../support/process.ts'

const EXAMPLE = fileURLToPath(new URL('../../examples/api-servers.mjs', import.meta.url))
const { isThere, minor, folder, run: kubectl } = useKubectl()
/** Waits for a field, and for the end of what is gone. */
const isOfToday = minor >= 28

const order = (tea: string, cups: number): string =>
  JSON.stringify({ apiVersion: 'shop.example/v1', kind: 'Order', metadata: { name: tea }, spec: { tea, cups } })

test(isThere ? 'every command ends as it should' : 'kubectl is not on this machine: install kubernetes-client', async () => {
  if (!isThere) return
  const file = join(folder, 'order.json')
  const program = new TestProcess([process.execPath, EXAMPLE], { env: { PORT: '0' }, speaksOn: 'stdout' }, '')
  const serving = () => program.log.find(({ msg }) => msg.startsWith('Serving on'))
  while (!serving()) await program.next()
  const port = Number(serving()?.['port'])
  await expect.poll(async () => (await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(200)
  /** Each with what it says, or with its exit code when it fails. */
  const run = async (expected: RegExp, ...args: readonly string[]): Promise<void> => {
    const { code, text } = await kubectl(port, ...args).ended
    expect(`${code} ${text}`, args.join(' ')).toMatch(expected)
  }
  await run(/^0 Client Version/, 'version')
  await run(/^0 [\s\S]*shop\.example\/v1/, 'api-versions')
  await run(/^0 [\s\S]*orders +od +shop\.example\/v1 +true +Order/, 'api-resources')
  await run(/^0 [\s\S]*readyz check passed/, 'get', '--raw', '/readyz?verbose')
  writeFileSync(file, order('assam', 2))
  await run(/^0 order\.shop\.example\/assam created/, 'create', '-f', file)
  await run(/^1 Error from server \(AlreadyExists\)/, 'create', '-f', file)
  await run(/^0 NAME +CUPS +AGE\nassam +2 +\d+s/, 'get', 'od')
  await run(/^0 NAMESPACE[\s\S]*default +assam/, 'get', 'orders', '-A')
  await run(/^0 [\s\S]*cups: 2/, 'get', 'od', 'assam', '-o', 'yaml')
  await run(/^0 Name: +assam/, 'describe', 'od', 'assam')
  await run(/^0 [\s\S]*How many/, 'explain', 'od.spec.cups')
  writeFileSync(file, order('assam', 3))
  await run(/^0 [\s\S]*assam configured/, 'apply', '-f', file)
  await run(/^0 [\s\S]*assam unchanged/, 'apply', '-f', file)
  await run(/^0 $/, 'diff', '-f', file)
  await run(/^0 Warning: unknown field "spec\.sugar"/, 'patch', 'od', 'assam', '--type', 'merge', '-p', '{"spec":{"sugar":1}}')
  await run(/^0 [\s\S]*patched/, 'patch', 'od', 'assam', '--type', 'merge', '-p', '{"spec":{"cups":4}}')
  await run(/^0 [\s\S]*scaled/, 'scale', 'od', 'assam', '--replicas', '5')
  await run(/^0 5/, 'get', 'od', 'assam', '-o', 'jsonpath={.spec.cups}')
  await run(/^1 [\s\S]*less than or equal to 12/, 'scale', 'od', 'assam', '--replicas', '13')
  await run(/^0 [\s\S]*scaled/, 'scale', 'od', 'assam', '--replicas', '4', '--current-replicas', '5')
  await run(/^0 [\s\S]*labeled/, 'label', 'od', 'assam', 'to=go')
  await run(/^0 [\s\S]*assam/, 'get', 'od', '-l', 'to=go')
  if (isOfToday) {
    await run(/^0 [\s\S]*condition met/, 'wait', '--for=jsonpath={.spec.cups}=4', 'od/assam', '--timeout=5s')
    await run(/^1 [\s\S]*timed out/, 'wait', '--for=jsonpath={.spec.cups}=9', 'od/assam', '--timeout=1s')
  }
  await run(/^0 yes/, 'auth', 'can-i', 'delete', 'orders.shop.example')
  await run(/^1 [\s\S]*less than or equal to 12/, 'patch', 'od', 'assam', '--type', 'merge', '-p', '{"spec":{"cups":99}}')

  const watch = kubectl(port, 'get', 'od', '-w')
  await expect.poll(watch.text, { timeout: COMMAND_MS }).toContain('assam')
  await run(/^0 [\s\S]*deleted/, 'delete', 'od', 'assam')
  await run(/^1 [\s\S]*NotFound/, 'get', 'od', 'assam')
  if (isOfToday) await run(/^0 /, 'wait', '--for=delete', 'od/assam', '--timeout=5s')
  program.signal('SIGTERM')
  expect((await program.ended()).code).toBe(0)
  expect((await watch.ended).code).toBe(0)
})
