// @ts-check
/**
 * Mutants that nothing can tell from the original, and why. `unheard`: because a transition that is never taken was changed, which a test
 * checks on all states of both modes.
 * @type {readonly { readonly mutants: RegExp, readonly why: string, readonly unheard?: true }[]}
 */
export const EQUIVALENT = [
  {
    mutants: /^(error swallowed|success taken for failure): (leader-election (losing|resigning|ending|releasing)|store closing): work on/,
    why: 'What is waited for there ends in one way, whether it succeeds or fails.',
  },
  {
    mutants: /^error swallowed: leader-election candidate\.trying: work onError$/,
    why: 'An attempt that fails is one that was not granted.',
  },
  {
    mutants: /^edge dropped: (notify-clients|shutdown-delay): ShutdownInitiated$/,
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
    mutants: /^(transition|action) dropped: root running\.notify-clients\.working: on Cut\.(connections|audit|destroy|flush)/,
    why: 'Notifying begins with the stop, so Cut.hooks and Cut.requests have ended it before.',
    unheard: true,
  },
  {
    mutants:
      /^(transition|action) dropped: root running\.(shutdown-delay|pre-shutdown-hooks)\.working: on Cut\.(requests|connections|audit|destroy|flush)/,
    why: 'They begin with the stop and do nothing more when they are cut, so Cut.hooks has ended them before.',
    unheard: true,
  },
  {
    mutants: /^(transition|action) dropped: root running\.watch-drain\.working: on Cut\.(audit|destroy|flush)/,
    why: 'All that the watch drain waits for is over at Cut.hooks, so Cut.requests and Cut.connections have ended it before.',
    unheard: true,
  },
  {
    mutants: /^(transition|action) dropped: root running\.close-listener\.working: on Cut\.(audit|destroy|flush)/,
    why: 'The listener is being closed from NotAcceptingNewRequest on, which is said at Cut.hooks at the latest, so Cut.requests and Cut.connections have ended that before.',
    unheard: true,
  },
  {
    mutants: /^(transition|action) dropped: root running\.close-listener-after-drain\.working: on Cut\.flush/,
    why: 'In that mode InFlightRequestsDrained is said at Cut.connections at the latest, so Cut.audit and Cut.destroy have ended the close before.',
    unheard: true,
  },
  {
    mutants:
      /^((transition|action) dropped|error swallowed): root running\.(notify-clients|shutdown-delay|pre-shutdown-hooks|request-drain|watch-drain|close-listener|close-listener-after-drain|last-call|close-connections|handlers|destroy|report)\.working: work onError/,
    why: 'A phase machine ends by its output, whatever its effects do; an error of its own would be a violation of no-errors.',
    unheard: true,
  },
  {
    mutants: /^(transition dropped|action dropped|error swallowed): root running\.mux-complete\.open: work onError/,
    why: 'The machine ends by its output, whatever a mux-complete signal does.',
    unheard: true,
  },
  {
    mutants: /^action dropped: root running\.mux-complete\.open\.working: on (xstate\.done\.actor\.mux-complete|StopRequested), settle 1$/,
    why: 'A phase that is complete, or that a stop has ended, costs nothing; a signal that failed has been paid for when it did.',
  },
  {
    mutants: /^action dropped: root running\.stop\.living: on (stop\.requested|process\.signalled|process\.crashed|StartFailed), worsen 1$/,
    why: 'These reasons cost nothing by themselves: the exit code made worse by 0 stays as it is.',
  },
  {
    mutants: /^action dropped: root running\.stop\.living: on PostStartHookFailed, worsen 1$/,
    why: 'Only a hook that failed says so, and its failure has made the exit code 4 in the same list of actions, before.',
  },
  {
    mutants: /^action dropped: root running: on SecondCrash, worsen 1$/,
    why: 'The first crash has made the exit code 1 already.',
  },
  {
    mutants:
      /^action dropped: root running\.((audit-run|bind|serve|mux-complete|post-start-launch|announce|has-been-ready)\.(waiting|working): on StopRequested|[\w-]+\.unarmed: on \w+( \(\d\))?), settle \d$/,
    why: 'A phase that is skipped costs nothing.',
  },
  {
    mutants:
      /^action dropped: root running\.((audit-run|bind|announce)\.working: work onDone \(2\)|(audit-shutdown|admin-listener)\.working: work onDone|(mux-complete|not-accepting|in-flight-drained)\.waiting: on [\w.]+( \(\d\))?|serve\.waiting: on Bound|post-start-launch\.waiting: on Serving|has-been-ready\.waiting: on readyz\.passed|shutdown-initiated\.waiting: on StopRequested|end\.waiting: on ReportWritten), settle \d$/,
    why: 'These phases have an effect for their work, or none, and end there only when it was done: that costs nothing.',
  },
  {
    mutants: /^action dropped: root running\.close-listener-after-drain\.working: on Cut\.audit, settle 1$/,
    why: 'A phase that closes the listener so late waited for drains that Cut.requests had cut, which has made the exit code 5 already.',
  },
  {
    mutants:
      /^(transition dropped: root running\.request-drain\.waiting: on (NotAcceptingNewRequest \(1\)|LastCallComplete \(2\))|guard dropped: root running\.request-drain\.waiting: on LastCallComplete \(1\)|action dropped: root running\.request-drain\.waiting: on (NotAcceptingNewRequest \(1\)|LastCallComplete \([12]\)), arrive)$/,
    why: 'LastCallComplete comes after NotAcceptingNewRequest in every life, so the other order never happens.',
  },
  {
    mutants:
      /^action dropped: root running\.(close-connections\.waiting: on (LastCallComplete|InFlightRequestsDrained) \(1\), arrive|mux-complete\.waiting: on (Start|mux\.apis) \(1\), arrive 1)$/,
    why: 'What has arrived is not looked at again when the last one came.',
  },
  {
    mutants: /^action dropped: root running\.audit-shutdown\.working: on Cut\.(destroy|flush), settle 1$/,
    why: 'What shuts down so late waited for drains that the budget had cut, which has made the exit code 5 already.',
  },
  {
    mutants: /^signal fired twice: root running\.budget\.spending\.(deadline|crash)\./,
    why: 'The latch of an instant is left when it is due for the first time, so a second time finds nothing; two budgets say most instants twice anyway.',
  },
  {
    mutants:
      /^signal fired twice: root running\.(second-signal\.armed: on process\.signalled|stop\.requested: on stop\.now|crash\.(rejected|thrown|armed): on process\.crashed.*)$/,
    why: 'The first has left the running life, and the end by force listens to nothing.',
  },
  {
    mutants: /^signal fired twice: root running\.start\.idle: on start\.refused$/,
    why: 'StartFailed is only an asker for the end, of which the first counts.',
  },
  {
    mutants: /^signal fired twice: root running\.[\w-]+(\.launched\.hooks)?\.fired: entry$/,
    why: 'What waits for the signal has heard it the first time, and listens no more; what observers are told of it is another action, by another operator.',
  },
  {
    mutants:
      /^(?!success taken for failure: (close-connections|handlers) )(error swallowed|success taken for failure): (root forcing|[\w-]+ cutting|report flushing|last-call holding): work on(Error|Done)$/,
    why: 'Both answers lead to the same state there, so this is the original itself.',
  },
  {
    mutants: /^(transition dropped|error swallowed): destroy running: work onError$/,
    why: 'The machine of a hook ends by its output, whatever the function does, so Destroy never hears an error of it.',
    unheard: true,
  },
  {
    mutants: /^(end missing: destroy failed: end|outcome taken for success: destroy failed: output)$/,
    why: 'Destroy is only there after an error of a hook’s machine, which never comes.',
  },
  {
    mutants: /^part of an action dropped: (pre-shutdown-hooks|mux-complete): settle, stopChild$/,
    why: 'The hook, or the signal, has ended by itself; stopping it takes its name from the list of children, which nothing looks at.',
  },
]

/** Why nothing can tell a mutant from the original. @param {string} id */
export const reasonFor = (id) => EQUIVALENT.find(({ mutants }) => mutants.test(id))?.why
