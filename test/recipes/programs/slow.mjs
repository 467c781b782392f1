import { writeSync } from 'node:fs'

/** Says on standard error that it was asked, and answers at SIGUSR2: its client waits that long. */
export function slow() {
  return new Promise((resolve) => {
    process.once('SIGUSR2', () => resolve('done'))
    writeSync(2, 'arrived\n')
  })
}
