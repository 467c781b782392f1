// `require()`
// variants: Node 20; Node 22; Node 24; Node 26; Deno; Bun
/** @param {import('../../compatibility.mjs').Cell} cell */
export default async ({ variant, runtime, write, drains }) => {
  const program = write(
    'server.cjs',
    `const { createServer } = require('node:http')
const { attachLifecycle } = require('quiesce')
const server = createServer((_, response) => setTimeout(() => response.end('done'), 1000))
server.listen(0, '127.0.0.1', () => console.log('PORT ' + server.address().port))
attachLifecycle(server, { deadline: '8s' }).run()
`,
  )
  await drains([...runtime(variant), program])
}
