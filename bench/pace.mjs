// @ts-check
// How much slower than the machine that the targets were set on a machine is at the moment.
import { execFileSync } from 'node:child_process'
import { median } from './statistics.mjs'

/** @typedef {readonly [before: number, after: number]} Pace of a machine, around what was measured */

/**
 * Milliseconds from the start of a bare process of each major version of Node to its end, on that machine. They are calculated, not
 * measured there: it took 56 ms of CPU to start a server of node alone, and another machine says how much shorter a bare process is.
 */
const BARE_MS = new Map([
  [20, 53],
  [22, 22],
  [24, 22],
  [26, 23],
])
const LOOKS = 9
/** From here on, a missed target says more about the machine than about the program. */
const SLOW = 1.5

/** Times as long as there for the same work, by the clock: other work on the machine counts, too. */
export function paceNow() {
  const looks = Array.from({ length: LOOKS }, () => {
    const begun = performance.now()
    execFileSync(process.execPath, ['-e', '0'])
    return performance.now() - begun
  })
  const major = Number(process.versions.node.split('.')[0])
  return median(looks) / (BARE_MS.get(major) ?? Math.max(...BARE_MS.values()))
}

/** @param {Pace | undefined} pace where it was looked at */
export const isSlow = (pace) => pace !== undefined && Math.max(...pace) > SLOW
