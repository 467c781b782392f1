/** Thrown in place of the end of the process: nothing after `process.exit` runs in a real one. */
export class ProcessExit extends Error {
  override readonly name = 'ProcessExit'
  readonly exitCode: number

  constructor(exitCode: number) {
    super(`process.exit(${exitCode})`)
    this.exitCode = exitCode
  }
}
