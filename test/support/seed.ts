/**
 * The seed of every random choice in this run. `npm test` draws it, prints it, and takes it back: `SEED=123 npm test`.
 * Give it to fast-check (`fc.assert(property, { seed })`) or to a generator of your own, never to `Math.random`.
 */
export const seed: number = Number(process.env['SEED'] ?? Math.trunc(Math.random() * 2 ** 31))
if (!Number.isSafeInteger(seed)) throw new Error(`SEED: got ${process.env['SEED']}, allowed: a whole number`)
