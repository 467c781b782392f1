// What the observations of the lives mean, rows 43 to 72: requests, connections, late requests, the end.
import { isRefusal, na, no, notRun, partly, seconds, yes } from './verdicts.mjs'

const bounded = (end, evidence) => (end.hung ? no(evidence) : yes(evidence))
const lateAnswer = ({ late }) => (isRefusal(late.fresh.what) ? late.fresh : isRefusal(String(late.old?.status)) ? late.old : undefined)

/** @type {Record<number, (found: any, system: any) => { verdict: string, evidence: string }>} */
export const JUDGES_OF_END = {
  43: ({ drain }) =>
    drain.answer?.status === 200 ? yes(`answered ${seconds(drain.answeredMs)} after SIGTERM`) : no('the request under way is lost'),
  44: ({ drain: { end, answeredMs } }) => {
    if (end.hung) return no(`a request of 1.2 s on a kept-alive connection: ${end.text}`)
    const evidence = `a request of 1.2 s on a kept-alive connection: ${end.text}`
    return end.afterMs - answeredMs < 1500 ? yes(evidence) : no(evidence)
  },
  45: ({ streams, drain }) => {
    const evidence = `an event stream ${streams.isWhole ? `is ended after ${seconds(streams.endedMs)}` : 'is not ended by itself'}, a request of 1.2 s is ${drain.answer ? 'waited for' : 'lost'}`
    return streams.isWhole && streams.said && drain.answer ? yes(evidence) : no(evidence)
  },
  46: ({ stuck: { ofStalled } }) => {
    const evidence = `a request whose body never ends: ${ofStalled.text}`
    return ofStalled.hung ? no(evidence) : yes(evidence)
  },
  47: ({ work }) =>
    /requests/.test(work.counts ?? '') ? yes(`it says ${work.counts?.slice(0, 60)}`) : no('nothing says how many requests are under way'),
  48: ({ work }) =>
    work.named ? yes('what it says names the path of the request that blocks') : no('nothing names the requests that block the end'),
  49: ({ work }) => {
    if (!work.canHold) return no('nothing makes work other than requests part of the drain')
    return work.end.afterMs >= 600 ? yes(`a job of 0.9 s: ${work.end.text}`) : no(`a job of 0.9 s: ${work.end.text}`)
  },
  50: ({ drain: { idleMs } }) => {
    if (idleMs === undefined) return no('an idle connection stays open')
    return idleMs < 300
      ? yes(`closed after ${seconds(idleMs)}`)
      : idleMs < 4000
        ? partly(`closed after ${seconds(idleMs)}`)
        : no(`closed after ${seconds(idleMs)}`)
  },
  51: ({ drain: { answer }, late }) => {
    if (!answer?.told) return no(`Connection: ${answer?.headers?.connection ?? 'without'}`)
    return isRefusal(late?.fresh?.what) && late.answer?.told === false
      ? partly(`Connection: close, but not where late requests get ${late.fresh.what}`)
      : yes('Connection: close')
  },
  52: ({ load }) =>
    load.lost === 0
      ? yes(`no client of 40 lost a request; the server told ${load.told} of them to leave`)
      : no(`${load.lost} of 40 clients lost a request; the server told ${load.told || 'none'} of them to leave`),
  53: ({ delay: { told } }) => {
    if (told.length < 15) return no('clients are not told to leave while the server serves')
    const spread = told[Math.floor(told.length * 0.9)] - told[Math.floor(told.length * 0.1)]
    return spread > 110 ? yes(`the clients are told within ${spread} ms, not at their next request`) : no(`all within ${spread} ms`)
  },
  54: ({ stuck: { ofSilent } }) => {
    const evidence = `a connection that sends nothing: ${ofSilent.text}`
    return ofSilent.hung ? no(evidence) : ofSilent.afterMs < 2000 ? yes(evidence) : partly(evidence)
  },
  55: ({ http2: { done, goaways, end, ofCurl } }) => {
    const evidence = `${done} of 2 streams finish, ${goaways ? 'with' : 'without'} GOAWAY; ${end.text}`
    if (done < 2) return ofCurl === 2 ? partly(`${evidence}; with curl as the client both do`) : no(evidence)
    return goaways && !end.hung && end.afterMs < 3000 ? yes(evidence) : partly(evidence)
  },
  56: ({ streams: { code } }) => (code === 1001 ? yes('close code 1001') : no(`close code ${code}`)),
  57: ({ streams: { ofSocket } }) =>
    ofSocket.hung ? no(ofSocket.text) : ofSocket.afterMs < 3500 ? yes(ofSocket.text) : partly(ofSocket.text),
  58: ({ streams }) =>
    streams.isWhole && streams.said
      ? yes(`a last event and a clean end after ${seconds(streams.endedMs)}`)
      : no(
          streams.endedMs === undefined ? 'the stream goes on until the process is killed' : `broken off after ${seconds(streams.endedMs)}`,
        ),
  59: ({ many: { spread, codes, closed, end } }) => {
    if (!closed || codes.includes(undefined)) return no('open WebSockets are left to themselves')
    // What comes after the process has ended is only how long the probe takes to hear of it.
    return spread > 250 && (end.hung || end.afterMs >= spread)
      ? yes(`150 WebSockets are closed within ${seconds(spread)}, with code ${codes.join(', ')}`)
      : no(`150 WebSockets are closed within ${spread} ms, with code ${codes.join(', ')}`)
  },
  61: (found) => {
    const answer = lateAnswer(found)
    if (isRefusal(found.late.fresh.what)) return yes(`a new connection gets ${found.late.fresh.what}`)
    return answer
      ? partly(`an open connection gets ${answer.status}, a new one is ${found.late.fresh.what}`)
      : no(`a new connection is ${found.late.fresh.what}`)
  },
  62: (found) => {
    const answer = lateAnswer(found)
    if (!answer) return no('late requests get no answer')
    const after = answer.headers?.['retry-after']
    return after ? yes(`Retry-After: ${after}`) : no(`${answer.status} without Retry-After`)
  },
  63: ({ drain, late }) =>
    !isRefusal(drain.late.what) && (isRefusal(late.fresh.what) || (drain.late.what === '200' && late.fresh.what === 'refused'))
      ? yes(`by option: ${drain.late.what}, or ${late.fresh.what}`)
      : no('there is no choice'),
  64: ({ late }) => {
    if (!isRefusal(late.fresh.what)) return na('it refuses by closing the listener')
    if (late.free.what !== late.fresh.what)
      return yes(`an exempt path reaches the application (${late.free.what}), others get ${late.fresh.what}`)
    return late.live === '200'
      ? partly(`liveness gets ${late.live}, the paths of the application get ${late.fresh.what}`)
      : no(`all paths get ${late.fresh.what}`)
  },
  65: ({ stuck: { ofStalled }, streams: { ofSocket } }) => {
    const evidence = `a stalled request: ${ofStalled.text}; an open WebSocket: ${ofSocket.text}`
    const forced = [ofStalled, ofSocket].filter(({ hung }) => !hung).length
    return forced === 2 ? yes(evidence) : forced ? partly(evidence) : no(evidence)
  },
  66: ({ again: { end, ofInterrupt } }, system) => {
    if (!system.signals) return na('the program has to listen for signals')
    const evidence = `a second SIGTERM 0.9 s after the first: ${end.text}`
    // A process that does not listen for SIGINT is ended by it: that is not the system's doing.
    return ofInterrupt && !ofInterrupt.hung && ofInterrupt.signal !== 'SIGINT'
      ? partly(`${evidence}; SIGINT instead of the second: ${ofInterrupt.text}`)
      : bounded(end, evidence)
  },
  67: (_, system) => (system.signals ? no('no signal skips only what is under way') : na('the program has to listen for signals')),
  69: ({ log: { share } }) =>
    share > 0.999
      ? yes('all of 1 MiB arrives through a slow pipe')
      : no(`${Math.round(share * 100)} % of 1 MiB arrives through a slow pipe`),
  71: (found, system) => {
    const { report } = found.order.report ?? {}
    if (report?.version) return yes(`a report with ${Object.keys(report).length} fields: exit code, phases, connections, …`)
    return report
      ? partly(JSON.stringify(report))
      : system.job === 'core'
        ? na('it only closes a server')
        : no('nothing is returned that says how it went')
  },
  72: ({ order: { signals } }) => (signals.length > 5 ? yes(`${signals.length} named events of one life`) : notRun('')),
  93: ({ late }) =>
    isRefusal(late.fresh.what)
      ? late.spoofed.what === late.fresh.what
        ? yes('the user agent of an API server gets the same refusal as others')
        : no('a user agent is enough')
      : na('nothing is exempt from the drain'),
}
