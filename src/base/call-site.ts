/**
 * Where our own code stands, as a frame of a stack names it: a folder of sources or of bundles, or
 * the one file that a program was bundled into. Found in a stack, because a module cannot say where
 * it is in every form that it is transformed into.
 */
function own(): string | undefined {
  const frame = new Error('here').stack?.split('\n')[1]
  const file = frame?.replace(/^\s*at (?:.*\()?(?:file:\/\/)?/, '').replace(/:\d+:\d+\)?$/, '')
  return file && (/^.*[\\/](?:src|dist)[\\/]/.exec(file)?.[0] ?? file)
}

let here: { readonly own: string | undefined } | undefined

/**
 * The stack of a call of ours from the caller's line on, one call per line. As it is when nothing
 * but our own frames can be told in it, as in a program that was bundled into one file; empty
 * without a stack.
 * @param stack of an error that was made during the call
 */
export function stackOfCaller(stack: unknown): string {
  if (typeof stack !== 'string') return ''
  here ??= { own: own() }
  const frames = stack
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
    .map((line) => line.trim().slice('at '.length))
  const first = frames.findIndex((frame) => !here?.own || !frame.includes(here.own))
  return (first < 0 || frames[first]?.includes('node:') ? frames : frames.slice(first)).join('\n')
}
