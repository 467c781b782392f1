// @ts-check

/**
 * A child that is killed when this process exits, also by an error: nobody else would end it.
 * @template {import('node:child_process').ChildProcess} Child
 * @param {Child} child
 * @returns {Child} the same
 */
export function withUs(child) {
  const kill = () => void child.kill('SIGKILL')
  process.once('exit', kill)
  child.once('exit', () => void process.removeListener('exit', kill))
  return child
}
