import { defineOptions, option } from '../options/define.ts'
import { present, text } from '../options/kinds.ts'
import { LIFE_MODULE_ALLOWED } from './life-module.ts'

export const PLAN_OPTIONS = defineOptions({
  config: option(text(LIFE_MODULE_ALLOWED), {
    flag: 'config',
    defaultWords: 'a server without hooks',
    meaning: 'The life whose plan is printed',
  }),
  json: option(present(), { flag: 'json', default: false, meaning: 'Print one JSON document, with all times in milliseconds' }),
})
