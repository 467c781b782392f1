import type { DiagramFormat } from '../diagram/index.ts'
import type { CommandFlag } from './arguments.ts'
import { LIFE_MODULE_ALLOWED } from './life-module.ts'

export const FORMATS: readonly DiagramFormat[] = ['svg', 'mermaid']
export const OUT_DEFAULT = 'diagrams'

export const DIAGRAM_FLAGS: readonly CommandFlag[] = [
  { name: 'config', kind: 'text', allowed: LIFE_MODULE_ALLOWED, default: 'a server without hooks', meaning: 'The life to draw' },
  { name: 'out', kind: 'text', allowed: 'a folder', default: OUT_DEFAULT, meaning: 'Where the pictures are written, over older ones' },
  {
    name: 'format',
    kind: 'text',
    allowed: FORMATS.join(', '),
    default: 'svg',
    meaning: 'SVG, or the text that Mermaid draws',
    accepts: (value) => FORMATS.some((format) => format === value),
  },
]
