import { defineOptions, option } from '../options/kit/define.ts'
import { duration, file, present } from '../options/kit/kinds.ts'

export const REPORT_OPTIONS = defineOptions({
  html: option(file(), {
    flag: 'html',
    defaultWords: 'none',
    meaning: 'Write the report as one page without scripts, to be attached to an incident, instead of printing it',
  }),
  slower: option(duration('1ms'), {
    flag: 'slower',
    defaultWords: 'none: times are shown, not judged',
    meaning: 'Of two reports: the second end is worse, too, when it takes longer by more than this',
  }),
  json: option(present(), { flag: 'json', default: false, meaning: 'Print one JSON document: the report, or what is different in two' }),
})
