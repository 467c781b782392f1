import { defineOptions, option } from '../options/kit/define.ts'
import { duration, file, present } from '../options/kit/kinds.ts'

export const REPORT_OPTIONS = defineOptions({
  html: option(file(), {
    flag: 'html',
    defaultWords: 'none',
    meaning: 'Write the report to this file as one HTML page without scripts, instead of printing it',
  }),
  slower: option(duration('1ms'), {
    flag: 'slower',
    defaultWords: 'none: times are printed and do not count',
    meaning: 'With two reports: the second is also worse when its stop took longer by more than this',
  }),
  json: option(present(), { flag: 'json', default: false, meaning: 'Print one JSON document: the report, or what differs between two' }),
})
