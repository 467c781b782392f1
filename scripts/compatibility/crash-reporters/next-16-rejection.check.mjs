// Next.js 16, a custom server, a rejection
// packages: next
// set: next
// variants: Node 20; Node 24
import { checkNext } from '../next.mjs'

/** Next.js has listeners of its own for both kinds of crashes. @param {import('../../compatibility.mjs').Cell} cell */
export default async (cell) => {
  const { output } = await checkNext(cell, { stop: 'GET /crash', exit: 1 })
  if (!output.includes('the pool is closed')) throw new Error(`nothing was destroyed:\n${output}`)
}
