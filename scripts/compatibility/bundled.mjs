// @ts-check
// What bundlers are given: a server with what reads files of its own in other packages, the page of
// the inspector, an admin listener and a report. It prints its port when it has seen the page.

export const PROGRAM = `import { createServer } from 'node:http'
import { attachLifecycle } from 'quiesce'

const server = createServer((_, response) => setTimeout(() => response.end('done'), 1000))
const note = async (_, text) => {
  const inspector = /^Inspector on (\\S+)/.exec(text)?.[1]
  if (!inspector) return
  const { status } = await fetch(inspector)
  console.log(status === 200 ? 'PORT ' + server.address().port : 'the page of the inspector: ' + status)
}
server.listen(0, '127.0.0.1', () => {
  void attachLifecycle(server, {
    deadline: '8s',
    health: true,
    admin: { port: 0 },
    inspector: true,
    reportFile: 'report.json',
    logger: { debug: note, info: note, warn: note, error: note },
  }).run()
})
`

/** @param {string} variant such as `CommonJS, minified` */
export const outputOf = (variant) => {
  const isCommonJs = variant.startsWith('CommonJS')
  return { isCommonJs, file: isCommonJs ? 'server.cjs' : 'server.mjs', isMinified: variant.endsWith('minified') }
}
