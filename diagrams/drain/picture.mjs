// @ts-check
// The recorded end of a life as an SVG that plays it: about as long as it took, over and over.
// Without animations, or where they are not wanted, it shows all of it at once.
import { KEYS } from '../../build/src/diagram/drawing/legend.js'
import { painted, round, svgDocument } from '../../build/src/diagram/drawing/paint.js'
import { isUpstream } from '../../build/src/diagram/drawing/scene.js'
import { rectSvg, textSvg } from '../../build/src/diagram/drawing/shapes.js'
import { textWidth } from '../../build/src/diagram/drawing/text-width.js'

/** @typedef {import('./record.mjs').Recording} Recording */
/** @typedef {import('../../build/src/diagram/drawing/paint.js').LookName} LookName */
/** @typedef {{ at: number, value: number }} Sample */

/** A whole turn, and how much of it the end takes; what is left is for reading the result. */
const LOOP_S = 12
const PLAY_S = 8.5
const WIDTH = 860
const MARGIN = 12
const NAMES = 128
const PLOT = { x: MARGIN + NAMES, width: 440 }
const SIDE = { x: PLOT.x + PLOT.width + 34, width: WIDTH - MARGIN - PLOT.x - PLOT.width - 34 }
const HEAD = 62
const LANE = 40
const ROW = 17
/** Before SIGTERM, so that it is seen how it is when nothing ends. */
const BEFORE_MS = 1_000
/** Those of Kubernetes that end a life, and the last one. */
const LISTED = [
  'ShutdownInitiated',
  'PreShutdownHooksStopped',
  'AfterShutdownDelayDuration',
  'NotAcceptingNewRequest',
  'HTTPServerStoppedListening',
  'InFlightRequestsDrained',
  'Ended',
]
const PHASES = ['pre-shutdown-hooks', 'notify-clients', 'shutdown-delay', 'watch-drain', 'last-call', 'request-drain', 'destroy']

/** @param {Recording} recording */
export function drainSvg({ entries, ledger, stopAt, options }) {
  const facts = entries.flatMap((entry) => (entry.kind === 'fact' ? [entry.event] : []))
  const gauges = entries.flatMap((entry) => (entry.kind === 'gauges' ? [entry] : []))
  const report = entries.flatMap((entry) => (entry.kind === 'report' ? [entry.report] : []))[0]
  const last = ledger.at(-1)
  if (!report || !last) throw new Error('the recording has no end')
  const from = stopAt - BEFORE_MS
  const to = Math.max(...facts.map(({ at }) => at))
  const film = new Film(from, to)
  const lanes = /** @type {const} */ ([
    ['requests in flight', gauges.map(({ at, requests }) => ({ at, value: requests }))],
    ['watches', gauges.map(({ at, watches }) => ({ at, value: watches }))],
    ['open connections', gauges.map(({ at, connections: { active, idle, notified } }) => ({ at, value: active + idle + notified }))],
    ['clients told to leave', ledger.map(({ at, notified }) => ({ at, value: notified }))],
  ])
  const rowsTop = HEAD + lanes.length * LANE + 12
  const axis = rowsTop + PHASES.length * ROW + 6
  const height = axis + 48
  const title = last.lost === 0 ? 'SIGTERM, and nothing is lost' : `SIGTERM, and ${last.lost} requests are lost`
  return svgDocument({ width: WIDTH, height }, title, [
    `<rect${painted('ground')} width="100%" height="100%"/>`,
    words('heading', MARGIN, 22, title),
    words(
      'plain',
      MARGIN,
      39,
      `whileDraining: '${options.whileDraining}' · shutdown delay ${seconds(options.shutdownDelay)}, deadline ${seconds(options.deadline)} · the example server under load, recorded on virtual time`,
    ),
    ...lanes.flatMap(([name, samples], i) => film.lane(name, samples, HEAD + i * LANE)),
    ...PHASES.flatMap((phase, i) => film.phase(phase, facts, rowsTop + i * ROW)),
    film.curtain(HEAD - 6, axis),
    ...film.axis(stopAt, HEAD - 6, axis),
    ...film.stop(stopAt, HEAD - 6, axis),
    ...film.cursor(HEAD - 6, axis),
    ...film.signals(facts, stopAt, HEAD),
    ...film.ledger(ledger, rowsTop + 14),
    ...film.result(report.exitCode, last, rowsTop + 66),
    ...legend(height - 14),
    `<style>${film.style()}</style>`,
  ])
}

class Film {
  #from
  #to
  /** @type {string[]} */
  #rules = []
  #count = 0

  /** @param {number} from @param {number} to */
  constructor(from, to) {
    this.#from = from
    this.#to = to
  }

  /** @param {number} at */
  #x(at) {
    const share = (Math.min(Math.max(at, this.#from), this.#to) - this.#from) / (this.#to - this.#from)
    return PLOT.x + share * PLOT.width
  }

  /** When in the loop this is seen, in percent. @param {number} at */
  #percent(at) {
    const share = Math.max(0, at - this.#from) / (this.#to - this.#from)
    return Math.round(share * (PLAY_S / LOOP_S) * 10_000) / 100
  }

  /** A class whose elements do this, over and over. @param {string} keyframes @param {string} timing */
  #animated(keyframes, timing) {
    const name = `a${++this.#count}`
    this.#rules.push(`@keyframes ${name} { ${keyframes} }`, `.${name} { animation: ${name} ${LOOP_S}s ${timing} infinite; }`)
    return name
  }

  /** A class whose elements appear at a time, and stay. @param {number} at */
  #appearing(at) {
    const percent = this.#percent(at)
    return this.#animated(`0%, ${percent}% { opacity: 0; } ${percent + 1.5}%, 100% { opacity: 1; }`, 'linear')
  }

  style() {
    return `\n${this.#rules.join('\n')}\n@media (prefers-reduced-motion: reduce) { * { animation: none !important; } }\n`
  }

  /**
   * A number over time: its name, its value now, and its curve.
   * @param {string} name @param {readonly Sample[]} samples @param {number} top
   */
  lane(name, samples, top) {
    const shown = samples.filter(({ at }) => at <= this.#to)
    const most = Math.max(1, ...shown.map(({ value }) => value))
    const floor = top + LANE - 8
    const y = (/** @type {number} */ value) => round(floor - (value / most) * (LANE - 14))
    const before = shown.findLast(({ at }) => at <= this.#from)?.value ?? shown[0]?.value ?? 0
    let line = `M${PLOT.x} ${y(before)}`
    for (const { at, value } of shown) if (at > this.#from) line += `H${round(this.#x(at))}V${y(value)}`
    line += `H${PLOT.x + PLOT.width}`
    return [
      words('plain', MARGIN, top + 18, name),
      ...this.#counter(shown, before, MARGIN, top + 32, 'name', 40),
      `<path${painted('area')} d="${line}V${floor}H${PLOT.x}z"/>`,
      `<path${painted('curve')} d="${line}"/>`,
      `<path${painted('rule')} d="M${PLOT.x} ${floor}h${PLOT.width}"/>`,
    ]
  }

  /**
   * A number that changes: all its values below each other, behind a window for one of them.
   * @param {readonly Sample[]} samples @param {number} before @param {number} x @param {number} base
   * @param {LookName} look @param {number} width
   */
  #counter(samples, before, x, base, look, width) {
    const values = [{ at: this.#from, value: before }]
    for (const { at, value } of samples) {
      const last = values.at(-1)
      if (at > this.#from && last && value !== last.value) values.push({ at, value })
    }
    const row = 20
    const lastRow = -(values.length - 1) * row
    const steps = values.map(({ at }, i) => `${this.#percent(at)}% { transform: translateY(${-i * row}px); }`)
    const moving = this.#animated(`${steps.join(' ')} 100% { transform: translateY(${lastRow}px); }`, 'step-end')
    return [
      `<svg x="${x}" y="${base - 14}" width="${width}" height="${row}" viewBox="0 0 ${width} ${row}"><g class="${moving}" transform="translate(0 ${lastRow})">`,
      ...values.map(({ value }, i) => words(look, 0, 14 + i * row, String(value))),
      '</g></svg>',
    ]
  }

  /** @param {string} phase @param {readonly import('../../build/src/base/events.js').LifecycleEvent[]} facts @param {number} top */
  phase(phase, facts, top) {
    const begun = facts.find((fact) => fact.type === 'phase.started' && fact.phase === phase)
    const ended = facts.find((fact) => fact.type === 'phase.ended' && fact.phase === phase)
    if (!begun || !ended) return []
    const [x, end] = [this.#x(begun.at), this.#x(ended.at)]
    return [words('plain', MARGIN, top + 11, phase), rectSvg('bar', { x, y: top + 3, width: Math.max(3, end - x), height: ROW - 7 }, 2)]
  }

  /** Lies over what has not happened yet. @param {number} top @param {number} bottom */
  curtain(top, bottom) {
    const x = PLOT.x - 1
    const width = PLOT.width + 2
    const seen = this.#percent(this.#to)
    const moves = this.#animated(`0% { transform: translateX(0); } ${seen}%, 100% { transform: translateX(${width}px); }`, 'linear')
    // A window of the plot's size: what has been drawn away is not seen beside it.
    return [
      `<svg x="${x}" y="${top}" width="${width}" height="${bottom - top}" viewBox="0 0 ${width} ${bottom - top}">`,
      `<rect class="${moves} ground" fill="#ffffff" x="0" y="0" width="${width}" height="${bottom - top}" transform="translate(${width} 0)"/>`,
      '</svg>',
    ].join('\n')
  }

  /** @param {number} stopAt @param {number} top @param {number} bottom */
  axis(stopAt, top, bottom) {
    const ticks = []
    for (let at = stopAt; at <= this.#to; at += 1_000) ticks.push(at)
    return [
      `<path${painted('rule')} d="M${PLOT.x} ${bottom}h${PLOT.width}"/>`,
      ...ticks.flatMap((at) => {
        const x = round(this.#x(at))
        const label = `+${(at - stopAt) / 1_000}s`
        return [
          `<path${painted('tick')} d="M${x} ${top}V${bottom}"/>`,
          words('plain', Number(x) - textWidth(label, 11) / 2, bottom + 13, label),
        ]
      }),
    ]
  }

  /** @param {number} stopAt @param {number} top @param {number} bottom */
  stop(stopAt, top, bottom) {
    const x = round(this.#x(stopAt))
    return [
      `<g class="${this.#appearing(stopAt)}"><path${painted('line-upstream')} d="M${x} ${top}V${bottom}"/>`,
      words('raised-upstream', Number(x) - textWidth('SIGTERM', 11, true) / 2, top - 3, 'SIGTERM'),
      '</g>',
    ]
  }

  /** @param {number} top @param {number} bottom */
  cursor(top, bottom) {
    const end = this.#percent(this.#to)
    const moves = this.#animated(`0% { transform: translateX(${-PLOT.width}px); } ${end}%, 100% { transform: translateX(0); }`, 'linear')
    return [
      `<path class="${moves} lifeline" fill="none" stroke="#59636e" stroke-width="1.5" d="M${PLOT.x + PLOT.width} ${top}V${bottom}"/>`,
    ]
  }

  /** @param {readonly import('../../build/src/base/events.js').LifecycleEvent[]} facts @param {number} stopAt @param {number} top */
  signals(facts, stopAt, top) {
    const lines = LISTED.flatMap((name) => {
      const fact = facts.find((each) => each.type === 'signal' && each.name === name)
      return fact ? [{ name, at: fact.at }] : []
    })
    return [
      words('group', SIDE.x, top + 4, 'signals'),
      ...lines.flatMap(({ name, at }, i) => {
        const y = top + 24 + i * 19
        const whose = isUpstream(name) ? 'upstream' : 'own'
        const time = `+${((at - stopAt) / 1_000).toFixed(2)}s`
        return [
          `<circle${painted('pending')} cx="${SIDE.x + 6}" cy="${y - 4}" r="3.5"/>`,
          words('plain', SIDE.x + 17, y, name),
          `<g class="${this.#appearing(at)}">`,
          `<rect${painted('ground')} x="${SIDE.x - 1}" y="${y - 13}" width="${SIDE.width + 2}" height="17"/>`,
          `<circle${painted(`dot-${whose}`)} cx="${SIDE.x + 6}" cy="${y - 4}" r="5"/>`,
          words(`raised-${whose}`, SIDE.x + 17, y, name),
          words('plain', SIDE.x + SIDE.width - textWidth(time, 11), y, time),
          '</g>',
        ]
      }),
    ]
  }

  /** What the clients counted. @param {Recording['ledger']} ledger @param {number} top */
  ledger(ledger, top) {
    const column = SIDE.width / 3
    return [
      .../** @type {const} */ (['asked', 'answered', 'lost']).flatMap((what, i) => {
        const samples = ledger.map((line) => ({ at: line.at, value: line[what] }))
        const before = samples.findLast(({ at }) => at <= this.#from)?.value ?? 0
        const x = SIDE.x + i * column
        return [words('plain', x, top, what), ...this.#counter(samples, before, x, top + 17, what === 'lost' ? 'good' : 'title', 60)]
      }),
    ]
  }

  /** @param {number} exitCode @param {Recording['ledger'][number]} last @param {number} top */
  result(exitCode, { asked, lost }, top) {
    return [
      `<g class="${this.#appearing(this.#to)}">`,
      rectSvg('good-box', { x: SIDE.x, y: top - 16, width: SIDE.width, height: 42 }, 6),
      words('good-heading', SIDE.x + 12, top + 2, `exit code ${exitCode}`),
      words('good', SIDE.x + 12, top + 18, `${lost} of ${asked} requests lost`),
      '</g>',
    ]
  }
}

/** @param {number} y */
function legend(y) {
  /** @type {[LookName, string][]} */
  const items = [
    ['dot-upstream', KEYS.upstreamDot.words],
    ['dot-own', KEYS.ownDot.words],
    ['bar', 'a phase at work'],
  ]
  let x = MARGIN
  return [
    '<g class="legend">',
    ...items.flatMap(([look, text]) => {
      const at = x
      x += textWidth(text, 11) + 40
      const sample =
        look === 'bar'
          ? rectSvg('bar', { x: at, y: y - 9, width: 14, height: 9 }, 2)
          : `<circle${painted(look)} cx="${at + 7}" cy="${y - 4}" r="5"/>`
      return [sample, words('plain', at + 19, y, text)]
    }),
    '</g>',
  ]
}

/** @param {LookName} look @param {number} x @param {number} y @param {string} text */
function words(look, x, y, text) {
  const [size, bold] = SIZES[look] ?? [11, false]
  return textSvg(look, { x, y }, textWidth(text, size, bold), text)
}

/** @type {Partial<Record<LookName, [number, boolean]>>} */
const SIZES = {
  heading: [15, true],
  group: [12.5, true],
  title: [12.5, true],
  name: [11, true],
  good: [12.5, true],
  'good-heading': [15, true],
  'raised-upstream': [11, true],
  'raised-own': [11, true],
}

/** @param {string} duration */
const seconds = (duration) => (duration.endsWith('ms') ? `${Number.parseInt(duration, 10) / 1_000} s` : duration.replace('s', ' s'))
