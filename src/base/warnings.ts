/** Every code of a warning that has a line on standard error. */
export const WARNING_CODES = {
  WARN_WITHOUT_EFFECT: 'An option, a time or a check was given and has no effect; the message says what it would need',
  WARN_OUTSIDE_LIMITS: 'A time does not fit what surrounds the process, such as when its platform kills it or its proxy closes connections',
  WARN_OTHER_LISTENERS: 'The program has listeners of its own for signals or crashes; `details` has their names',
  WARN_CRASHES_TAKEN: 'Something takes uncaught exceptions before any listener, so that they do not end the server',
  WARN_CRASH_LOOP:
    'Each report of a crash led to the next crash, a hundred times before the event loop went on; quiesce does not report the others',
  WARN_SIGNAL_LOST: 'A signal that is sent to the process does not reach it, because of how the process was started',
  WARN_DEADLINE_MISSED: 'The stop took longer than its deadline, because the event loop was blocked or the process was paused',
  WARN_LOG_LOST: 'Lines of the log were lost, or may be: their reader did not take them in time, or the logger failed or hung',
  WARN_AUDIT_LOST: 'Events of the audit log were dropped, or their backend did not take them; the errors of the report say why',
  WARN_NOT_STARTED: 'A server was created or attached, and its `run()` or `start()` was never called',
  WARN_STILL_ALIVE: 'Something kept the process alive after its server had ended, so `run()` ended the process; the message names it',
} as const satisfies Record<`WARN_${string}`, string>

export type WarningCode = keyof typeof WARNING_CODES

/** A warning: its code is stable, its message is for people. */
export interface Warning {
  readonly code: WarningCode
  readonly message: string
}

export const warningsOf = (code: WarningCode, messages: readonly string[]): readonly Warning[] =>
  messages.map((message) => ({ code, message }))
