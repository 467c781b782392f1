// @ts-check
/** Mutants that nothing can tell from the original, and why. @type {readonly { readonly mutants: RegExp, readonly why: string }[]} */
export const EQUIVALENT = [
  {
    mutants: /^edge dropped: (tell|shutdown-delay): ShutdownInitiated$/,
    why: 'ShutdownInitiated fires in the very step of StopRequested, so waiting for either is the same.',
  },
  {
    mutants: /^work taken for the other kind: (audit-run|bind|announce): effect$/,
    why: 'Phases of the start lane have no cut, and the kind of a work only decides how it is cut.',
  },
  {
    mutants: /^work taken for the other kind: shutdown-delay: machine$/,
    why: 'The delay has nothing to do when it is cut: told or stopped, it ends in the same step as cut.',
  },
  {
    mutants: /^transition dropped: root running\.tell\.working: on Cut\.(connections|audit|destroy|flush)$/,
    why: 'Telling begins with the stop, so Cut.hooks and Cut.requests have ended it before.',
  },
  {
    mutants: /^transition dropped: root running\.request-drain\.working: on Cut\.(audit|destroy|flush)$/,
    why: 'All that the drain waits for is over at Cut.hooks, so Cut.requests and Cut.connections have ended it before.',
  },
  {
    mutants: /^transition dropped: root running\.(tell|request-drain)\.working: work onError$/,
    why: 'A phase machine ends by its output, whatever its effects do; an error of its own would be a violation of no-errors.',
  },
  {
    mutants: /^action dropped: root running\.stop\.living: on (stop\.requested|process\.signalled|process\.crashed|StartFailed), worsen 1$/,
    why: 'These reasons cost nothing by themselves: the exit code made worse by 0 stays as it is.',
  },
  {
    mutants: /^action dropped: root running: on SecondCrash, worsen 1$/,
    why: 'The first crash has made the exit code 1 already.',
  },
  {
    mutants: /^action dropped: root running\.bind\.waiting: on StopRequested, settle 1$/,
    why: 'A phase that is skipped costs nothing.',
  },
]
