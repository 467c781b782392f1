import fc from 'fast-check'

/**
 * The seed of every random choice in this run. `npm test` draws it, prints it, and takes it back:
 * `SEED=123 npm test`. Vitest loads this file before each test file, so that properties use it by
 * themselves; a generator of your own takes it from here.
 */
export const seed: number = Number(process.env['SEED'] ?? Math.trunc(Math.random() * 2 ** 31))
if (!Number.isSafeInteger(seed)) throw new Error(`SEED: got ${process.env['SEED']}, allowed: a whole number`)

fc.configureGlobal({ seed })
