// @ts-check
// How the house stands: `npm run house`, with `--json` for programs, `--all` for what is behind
// each count. A report, which fails nothing. Sizes of packages are those of what was built last.
import { circles } from './house/circles.mjs'
import { docComments } from './house/comments.mjs'
import { exportedNames } from './house/exports.mjs'
import { readmeWords } from './house/readme-words.mjs'
import { retiredWords } from './house/retired-words.mjs'
import { classes, files } from './house/sizes.mjs'
import { ownTexts } from './house/sources.mjs'
import { tarballs } from './house/tarballs.mjs'
import { upward } from './house/upward.mjs'
import { givenArguments } from './usage.mjs'

const { values } = givenArguments({ options: { json: { type: 'boolean' }, all: { type: 'boolean' } } })

const LINES_MAX = 300
const MEMBERS_MAX = 40
const SHOWN = 10

const texts = ownTexts()
const byLines = (/** @type {{ lines: number }} */ a, /** @type {{ lines: number }} */ b) => b.lines - a.lines
const allClasses = classes(texts).sort(byLines)
const comments = docComments(texts)
const report = {
  circles: circles(texts),
  upward: upward(texts),
  classes: allClasses.filter(({ lines, members }) => lines > LINES_MAX || members > MEMBERS_MAX),
  largestClass: allClasses[0],
  mostMembers: [...allClasses].sort((a, b) => b.members - a.members)[0],
  files: files(texts)
    .filter(({ lines }) => lines > LINES_MAX)
    .sort(byLines),
  exports: Object.fromEntries(Object.entries(exportedNames()).map(([name, names]) => [name, names.length])),
  tarballs: tarballs(),
  readme: readmeWords(),
  comments: { all: comments.length, withoutSubject: comments.filter(({ hasSubject }) => !hasSubject) },
  retired: retiredWords(texts),
}

const megabytes = (/** @type {number} */ bytes) => `${(bytes / 1e6).toFixed(2)} MB`
const named = (/** @type {{ name: string, path: string, lines: number, members: number } | undefined} */ it) =>
  it === undefined ? '-' : `${it.name}: ${it.lines} lines, ${it.members} members (${it.path})`
const withoutSubject = report.comments.withoutSubject.length
const share = `${((100 * withoutSubject) / report.comments.all).toFixed(1)} %`
const retired = Object.entries(report.retired)
  .filter(([, count]) => count > 0)
  .sort(([, a], [, b]) => b - a)

/** @type {readonly (readonly [string, string | number, string])[]} */
const rows = [
  ['circles of imports', report.circles.length, '0'],
  ['imports upward', report.upward.length, '0'],
  ['largest class', named(report.largestClass), `${LINES_MAX} lines`],
  ['class with most members', named(report.mostMembers), `${MEMBERS_MAX} members`],
  ['classes above either', report.classes.length, 'one decision each'],
  ['largest file', report.files[0] ? `${report.files[0].lines} lines (${report.files[0].path})` : '-', ''],
  [`files above ${LINES_MAX} lines`, report.files.length, ''],
  ...Object.entries(report.exports).map(([name, count]) => /** @type {const} */ ([`names exported by ${name}`, count, ''])),
  ...report.tarballs.map(
    ({ name, packed, unpacked, files: count }) =>
      /** @type {const} */ ([`package ${name}`, `${megabytes(packed)} packed, ${megabytes(unpacked)}, ${count} files`, '']),
  ),
  ['words in README', `${report.readme.words}, ${report.readme.beforeInstall} before npm install`, 'about 700'],
  ['doc comments without a subject', `${withoutSubject} of ${report.comments.all}, ${share}`, '0'],
  ['retired words', retired.map(([word, count]) => `${word} ${count}`).join(', '), 'none'],
]

const width = Math.max(...rows.map(([name]) => name.length))
const heading = (/** @type {string} */ text) => `\n${text}:\n`
const list = (/** @type {readonly string[]} */ lines) => (values.all ? lines : lines.slice(0, SHOWN)).map((line) => `  ${line}\n`).join('')

if (values.json) process.stdout.write(`${JSON.stringify(report, undefined, 2)}\n`)
else {
  for (const [name, now, goal] of rows) process.stdout.write(`${name.padEnd(width)}  ${now}${goal === '' ? '' : `  [${goal}]`}\n`)
  if (report.circles.length > 0) process.stdout.write(heading('Circles') + list(report.circles.map((circle) => circle.join(', '))))
  if (report.upward.length > 0) process.stdout.write(heading('Imports upward') + list(report.upward))
  process.stdout.write(heading('Classes above the limits') + list(report.classes.map(named)))
  process.stdout.write(heading(`Files above ${LINES_MAX} lines`) + list(report.files.map(({ path, lines }) => `${lines}  ${path}`)))
  process.stdout.write(
    heading('Doc comments without a subject') + list(report.comments.withoutSubject.map(({ place, sentence }) => `${place}: ${sentence}`)),
  )
}
