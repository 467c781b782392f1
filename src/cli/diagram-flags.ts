import { defineOptions, option } from '../options/kit/define.ts'
import { choice, text } from '../options/kit/kinds.ts'
import { lifeModule } from './life-module.ts'

export const DIAGRAM_OPTIONS = defineOptions({
  config: option(lifeModule(), { flag: 'config', defaultWords: 'a server without hooks', meaning: 'The life to draw' }),
  out: option(
    { ...text('a folder'), placeholder: 'FOLDER' },
    { flag: 'out', default: 'diagrams', meaning: 'Where the pictures are written, over older ones' },
  ),
  format: option(choice('svg', 'mermaid'), { flag: 'format', default: 'svg', meaning: 'SVG, or the text that Mermaid draws' }),
})
