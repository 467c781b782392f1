// @ts-check
// Mutants of the wiring table: one wrong entry in one row each. The table is what an author edits
// who changes who waits for whom.
import { BUDGET_INSTANTS, cutSignal } from '../../build/src/machines/signals.js'
import { WIRING } from '../../build/src/machines/wiring.js'

/**
 * @typedef {import('../../build/src/machines/wiring.js').PhaseRow} Row
 * @typedef {import('../../build/src/machines/lifecycle.js').LifePlan} LifePlan
 * @typedef {{ operator: string, site: string, mode?: 'refuse' | 'retry-after', rows: Readonly<Record<string, Row>> }} TableMutant
 */

/** @type {Readonly<Record<string, Row>>} */
const ROWS = WIRING
const CUTS = BUDGET_INSTANTS.slice(0, -1).map(cutSignal)

/** What each operator makes of a row, by what it changed. @type {Record<string, (row: Row) => Record<string, object>>} */
const OPERATORS = {
  'edge dropped': ({ after, lane }) => {
    const origin = lane === 'start' ? 'Start' : 'StopRequested'
    return Object.fromEntries(
      after
        .filter((signal) => after.length > 1 || signal !== origin)
        .map((signal) => [signal, { after: after.length > 1 ? after.filter((other) => other !== signal) : [origin] }]),
    )
  },
  'edge of one mode dropped': ({ alsoAfter = {} }) =>
    Object.fromEntries(Object.keys(alsoAfter).map((mode) => [mode, { alsoAfter: undefined }])),
  'condition dropped': ({ unless }) => (unless ? { [unless]: { unless: undefined } } : {}),
  'word not passed on': ({ hears = {} }) =>
    Object.fromEntries(
      Object.keys(hears).map((signal) => [
        signal,
        { hears: Object.fromEntries(Object.entries(hears).filter(([other]) => other !== signal)) },
      ]),
    ),
  'work not done': ({ work }) => (work ? { [work]: { work: undefined, workKind: undefined, until: undefined } } : {}),
  'work taken for the other kind': ({ workKind }) =>
    workKind === 'machine' || workKind === 'effect' ? { [workKind]: { workKind: workKind === 'machine' ? 'effect' : 'machine' } } : {},
  'cut ignored': ({ cut }) => (cut ? { [cut]: { cut: undefined } } : {}),
  'cut at the next instant': ({ cut }) => neighbour(cut, 1),
  'cut at the instant before': ({ cut }) => neighbour(cut, -1),
  'failure only logged': ({ onFailure }) => (onFailure === 'StartFailed' ? { StartFailed: { onFailure: 'log' } } : {}),
  'wrong mode': ({ until }) => (until ? { until: { until: { refuse: until['retry-after'], 'retry-after': until.refuse } } } : {}),
}

/** @param {import('../../build/src/machines/signals.js').CutSignal | undefined} cut @param {number} by @returns {Record<string, object>} */
function neighbour(cut, by) {
  const other = cut && CUTS[CUTS.indexOf(cut) + by]
  return other ? { [cut]: { cut: other } } : {}
}

/** The row of the other mode in the place of this mode's. @type {readonly TableMutant[]} */
const WRONG_ROW = [
  wrongRow('refuse', 'close-listener', 'close-listener-after-drain'),
  wrongRow('retry-after', 'close-listener-after-drain', 'close-listener'),
]

/** @param {'refuse' | 'retry-after'} mode @param {string} phase @param {string} other @returns {TableMutant} */
function wrongRow(mode, phase, other) {
  const after = ROWS[other]?.after ?? []
  return {
    operator: 'wrong mode',
    site: `${phase}: after`,
    mode,
    rows: { [phase]: { .../** @type {Row} */ (ROWS[phase]), after } },
  }
}

/** @returns {TableMutant[]} */
export function tableMutants() {
  const mutants = Object.entries(OPERATORS).flatMap(([operator, mutate]) =>
    Object.entries(ROWS).flatMap(([phase, row]) =>
      Object.entries(mutate(row)).map(([what, change]) => ({
        operator,
        site: `${phase}: ${what}`,
        ...(row.when && { mode: row.when }),
        rows: { [phase]: withoutUndefined({ ...row, ...change }) },
      })),
    ),
  )
  return [...mutants, ...WRONG_ROW]
}

/** @param {object} row @returns {Row} */
const withoutUndefined = (row) => /** @type {Row} */ (Object.fromEntries(Object.entries(row).filter(([, value]) => value !== undefined)))
