// Next.js 16, after() in a custom server
// packages: next
// set: next
// variants: Node 20; Node 24
import { checkNext } from '../next.mjs'

/** @param {import('../../compatibility.mjs').Cell} cell */
export default async (cell) => {
  const { output } = await checkNext(cell, {})
  if (!output.includes('after() ended with the pool open')) throw new Error(`after() was not waited for:\n${output}`)
}
