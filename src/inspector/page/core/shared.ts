/**
 * Words that the page has in common with log, report and terminal. Browsers get nothing but the page's
 * folder: the build puts these files, which import nothing, in the place of this one.
 */
export { formatDuration, formatRunning } from '../../../base/format-duration.ts'
export { exitCodeMeaning } from '../../../machines/exit-codes.ts'
export { describeReason } from '../../../report/words.ts'
