/** Where our own code stands: as it runs (sources, or bundles), and as source maps name it. */
const OWN = ['../', '../../src/']
  .map((folder) => new URL(folder, import.meta.url))
  .flatMap(({ href, pathname }) => [href, decodeURI(pathname)])

/**
 * The stack of a call of ours from the caller's line on, one call per line. As it is when nothing
 * but our own frames can be told in it, as in a program that was bundled into one file; empty
 * without a stack.
 * @param stack of an error that was made during the call
 */
export function stackOfCaller(stack: unknown): string {
  if (typeof stack !== 'string') return ''
  const frames = stack
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
    .map((line) => line.trim().slice('at '.length))
  const first = frames.findIndex((frame) => !OWN.some((folder) => frame.includes(folder)))
  return (first < 0 || frames[first]?.includes('node:') ? frames : frames.slice(first)).join('\n')
}
