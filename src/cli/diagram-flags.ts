import { defineOptions, option } from '../options/kit/define.ts'
import { choice, text } from '../options/kit/kinds.ts'
import { lifeModule } from './life-module.ts'

export const DIAGRAM_OPTIONS = defineOptions({
  config: option(lifeModule(), { flag: 'config', defaultWords: 'a server without hooks', meaning: 'Module with the server to draw' }),
  out: option(
    { ...text('a folder'), placeholder: 'FOLDER' },
    { flag: 'out', default: 'diagrams', meaning: 'Folder for the pictures; older ones are overwritten' },
  ),
  format: option(choice('svg', 'mermaid'), { flag: 'format', default: 'svg', meaning: 'SVG, or text for Mermaid' }),
})
