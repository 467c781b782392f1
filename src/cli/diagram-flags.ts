import { defineOptions, option } from '../options/define.ts'
import { choice, text } from '../options/kinds.ts'
import { LIFE_MODULE_ALLOWED } from './life-module.ts'

export const DIAGRAM_OPTIONS = defineOptions({
  config: option(text(LIFE_MODULE_ALLOWED), { flag: 'config', defaultWords: 'a server without hooks', meaning: 'The life to draw' }),
  out: option(text('a folder'), { flag: 'out', default: 'diagrams', meaning: 'Where the pictures are written, over older ones' }),
  format: option(choice('svg', 'mermaid'), { flag: 'format', default: 'svg', meaning: 'SVG, or the text that Mermaid draws' }),
})
