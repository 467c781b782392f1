// @ts-check
/**
 * Mutants of the code that no test of their area can tell from the original, and why; by their ids.
 * @type {readonly { readonly mutants: RegExp, readonly why: string }[]}
 */
export const SURVIVORS = [
  {
    mutants: /^src\/process\/(keep-alive\.ts boolean turned: true -> false$|run\.ts boolean turned: true -> false \(3\))/,
    why: 'A signal aborts once.',
  },
  {
    mutants:
      /^src\/actors\/((audit|await-listen|bind|listener)\.ts boolean turned: true -> false$|await-mux\.ts boolean turned: true -> false|recurring\.ts boolean turned: true -> false \([23]\)$)/,
    why: 'A signal aborts once.',
  },
  {
    mutants:
      /^src\/actors\/(unix-socket\.ts (condition decided: if \(cluster\.isWorker.* -> \(false\)$|operator exchanged: cluster\.isWorker|statement dropped: (await removeStale|listen\(\) -> ;$))|listener\.ts statement dropped: (listens\(\)|await removeStaleInWorker))/,
    why: 'Only workers of a cluster show it: test/processes/cluster-sockets.test.ts.',
  },
  {
    mutants: /^src\/actors\/unix-socket\.ts (boolean turned: true -> false$|operator exchanged: code !== 'ENOENT')/,
    why: 'The path would have to go between two calls of the system, of which nothing of this process comes in between.',
  },
  {
    mutants: /^src\/actors\/listener\.ts condition decided: 'updateSettings' in server .* -> \(false\)/,
    why: 'Before Node 24 the `close()` of HTTP/2 is that of node:net; on Node 24 test/conformance/transports.test.ts shows it.',
  },
  {
    mutants: /^src\/actors\/listener\.ts condition decided: if \('fd' in target\) server\.listen.* -> \(false\)/,
    why: 'Node reads the descriptor and no name: the branch is there for the types.',
  },
  {
    mutants:
      /^src\/actors\/accept-seal\.ts (condition decided: if \(|operator exchanged: )process\.platform !== 'linux' .* -> (\(false\)|&&)/,
    why: 'In the main process, on Linux, a server without an address or with a path has no such key either.',
  },
  {
    mutants: /^src\/actors\/effects\.ts operator exchanged: input\.lastCallMs > 0 -> >=/,
    why: 'The machine of the last call waits no longer than that, which is 0 ms then.',
  },
  {
    mutants: /^src\/actors\/bind\.ts condition decided: death\.kind === 'error' .* -> \(true\)/,
    why: 'A death that is no error has none: the types ask for its kind.',
  },
  {
    mutants: /^src\/actors\/close-down\.ts statement dropped: seal\?\./,
    why: 'Our own connection, which keeps no process alive, is reset by the close; one that was never made would only be refused later.',
  },
  {
    mutants: /^src\/base\/node-internals\.ts operator exchanged: Number\(handle\.fd\) >= 0/,
    why: 'Node keeps the descriptors 0 to 2 for itself: no socket that it has bound has number 0.',
  },
  {
    mutants: /^src\/actors\/accept-seal\.ts operator exchanged: ownPorts\.size > 0/,
    why: 'No port is in an empty set: it only saves the question.',
  },
  {
    mutants: /^src\/actors\/accept-seal\.ts statement dropped: this\.#own\?\.destroy\(\) -> ;$/,
    why: 'Our own connection is closed by the other end as soon as that has accepted it: this is only sooner.',
  },
  {
    mutants: /^src\/actors\/accept-seal\.ts default dropped: rows\.pop/,
    why: 'A text has one row at least: the default is there for the types.',
  },
  {
    mutants: /^src\/actors\/accept-seal\.ts default dropped: (waiting|names)/,
    why: 'Neither undefined nor an empty text is a number, and nothing has either index: the default is there for the types.',
  },
  {
    mutants: /^src\/process\/process-end\.ts statement dropped: this\.#cancelGrace = undefined/,
    why: 'Cancelled twice is cancelled: the timer is cleared and both listeners are gone.',
  },
  {
    mutants: /^src\/process\/os-signals\.ts condition decided: if \(known\) return known -> \(true\)/,
    why: 'Mutants are tried in a process that knows the signals from the test without one; in a new process every test of signals fails.',
  },
  {
    mutants: /^src\/process\/cluster-worker\.ts default dropped: error\.code \?\? '' /,
    why: 'No code is none of the codes of the list, and neither is an empty one.',
  },
  {
    mutants:
      /^src\/process\/process-end\.ts (condition decided: graceMs > 0 |negation dropped: !KEEPS_NOTHING|statement dropped: sayOnStandardError)/,
    why: 'Only real processes show it, by what they write at their end: test/processes/exit.test.ts.',
  },
  {
    mutants: /^src\/lifecycle\/final-output\.ts condition decided: if \(!signal\.aborted\) .* -> \(true\)/,
    why: 'A report that was given up throws, unless it was given up in the moment between its last byte and the answer.',
  },
  {
    mutants: /^src\/listeners\/public-listeners\.ts condition decided: 'host' in target \? .* -> \(true\)/,
    why: 'What has no host has an undefined one: the condition is there for the types.',
  },
  {
    mutants: /^src\/endpoints\/metrics-endpoint\.ts condition decided: error \? .* -> \(false\)/,
    why: 'A text is compressed unless memory runs out.',
  },
  {
    mutants: /^src\/lifecycle\/registrations\.ts condition decided: if \(!\(complete instanceof AbortSignal\)\) .* -> \(true\)/,
    why: 'What is resolved with an AbortSignal never rejects.',
  },
  {
    mutants: /^src\/lifecycle\/registrations\.ts default dropped: after\.get\(name\)/,
    why: 'Every hook is among its predecessors: the default is there for the types.',
  },
  {
    mutants: /^src\/lifecycle\/finish\.ts statement dropped: finalOutput\.sayLostLines\(own\) -> ; \(2\)/,
    why: 'Only a real process loses lines at `process.exit()`: test/processes/exit.test.ts.',
  },
  {
    mutants:
      /^src\/report\/report-file\.ts (condition decided: if \((output !== undefined|!there\.isFile)|statement dropped: writeFileSync\(output|boolean turned: (false -> true \([27]\)|true -> false \([34]\))|negation dropped: !there\.|operator exchanged: (dev|ino) )/,
    why: 'Only a process whose log goes into a file shows it: test/processes/report-on-disk.test.ts.',
  },
  {
    mutants: /^src\/report\/report-file\.ts boolean turned: true -> false \((6|10)\)/,
    why: 'The report is written once more, in its place, and is the same.',
  },
  {
    mutants: /^src\/report\/report-file\.ts (operator exchanged: there && |boolean turned: true -> false \(2\))/,
    why: 'Root may write everything; a test that others than root run shows it.',
  },
  {
    mutants: /^src\/report\/end-meaning\.ts condition decided: forced === 'process-exit' \? .* -> \(true\)/,
    why: 'Nothing else that forces an end has an exit code.',
  },
  {
    mutants: /^src\/report\/progress\.ts default dropped: boundOfPhase/,
    why: 'A stop whose budget is known ends every phase: the default is there for the types.',
  },
  {
    mutants: /^src\/report\/report-builder\.ts default dropped: (lostLogLines|audit\?\.lost)/,
    why: 'Only a count above 0 is a warning, and undefined is not.',
  },
  {
    mutants: /^src\/report\/report-builder\.ts .*event\.type === 'signal' && event\.name === 'StopRequested'? ?-> (\|\||\(true\))/,
    why: 'Only a stop request has a reason with a kind; the types do not let others be asked for one.',
  },
  {
    mutants:
      /^src\/report\/diagnostics\.ts (condition decided: .*hasSubscribers.* -> \(true\)|operator exchanged: event\.type !== 'signal')/,
    why: 'Of all signals StopRequested alone has a reason, and what is published without subscribers reaches none.',
  },
  {
    mutants: /^src\/report\/diagnostics\.ts (default dropped: channels\.get|statement dropped: channels\.set)/,
    why: 'Node forgets a channel only with the memory that it took; and a process that tries mutants knows all channels already.',
  },
  {
    mutants: /^src\/report\/compare\.ts default dropped: tookMs\([ab]\) \?\? 0/,
    why: 'An end that took no time that is known is not compared by it: `isSameTime`.',
  },
  {
    mutants: /^src\/report\/compare\.ts operator exchanged: of\(b\) > of\(a\) -> >=/,
    why: 'Counts that are equal are no difference, and only differences are judged.',
  },
  {
    mutants: /^src\/report\/compare\.ts default dropped: hook\.durationMs \?\? undefined/,
    why: 'Only numbers are compared as times; null is none, as undefined is none.',
  },
  {
    mutants: /^src\/process\/crashes\.ts default dropped: leftToOthers\.get\(source\) \?\? \[\]/,
    why: 'Who listens at a source has an entry: the default is there for the types.',
  },
  {
    mutants:
      /^src\/lifecycle\/(?:lifecycle|course)\.ts (boolean turned: false -> true \(2\)$|statement dropped: (return -> ;$|lifeBegun|lifeCreated|serversAttached)|.*(host\.process !== process|options\.logger === false|if \(servers\) serversAttached|this\.host\.process === process(?!.*-> \(true\))))/,
    why: 'Only the end of a real process shows it, or its first ten seconds: test/processes/warned-process.test.ts.',
  },
  {
    mutants: /^src\/lifecycle\/course\.ts (statement dropped: followLife|operator exchanged: progress && )/,
    why: 'Only systemd hears it, by a tool of its own: test/processes/systemd.test.ts, whose programs run what was built.',
  },
  {
    mutants: /^src\/lifecycle\/lifecycle\.ts condition decided: work === undefined \? traffic\.hold\(name\) .* -> \(false\)/,
    why: 'The traffic makes the same difference: the condition is there for the types.',
  },
  {
    mutants:
      /^src\/lifecycle\/(?:consequences|root-actor)\.ts (default dropped: root\.stopProfile\?\.lastCallMs|operator exchanged: !actor \|\| !context -> &&)/,
    why: 'A life that stops has the profile of a stop, and an actor that is there has a context: it is there for the types.',
  },
  {
    mutants: /^src\/lifecycle\/course\.ts condition decided: if \(error !== undefined\) causes\.keep\('start -> \(true\)/,
    why: 'Only a start that is refused asks for it, and then there is one.',
  },
  {
    mutants: /^src\/process\/run\.ts .*(!?isMainThread|host\.process === process -> !==)/,
    why: 'Only a real worker thread shows it: test/upstream/process-signals.test.ts, whose programs run what was built.',
  },
  {
    mutants: /^src\/lifecycle\/ownership\.ts operator exchanged: this\.#isTaken/,
    why: 'Only a real terminal shows it: test/processes/terminal.test.ts, whose programs run what was built.',
  },
  {
    mutants: /^src\/lifecycle\/effect-context\.ts condition decided: why === 'cut' \? .* -> \(true\)/,
    why: 'An end by force costs 5 at least by itself.',
  },
  {
    mutants: /^src\/lifecycle\/consequences\.ts condition decided: if \(event\.outcome === 'failed'\) .* -> \(true\)/,
    why: 'Only what ends because its start has failed reads it, and the phase that failed has spoken first.',
  },
]

/** @param {string} id */
export const reasonToSurvive = (id) => SURVIVORS.find(({ mutants }) => mutants.test(id))?.why
