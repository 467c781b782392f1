import type { CommandFlag } from './arguments.ts'
import { LIFE_MODULE_ALLOWED } from './life-module.ts'

export const PLAN_FLAGS: readonly CommandFlag[] = [
  {
    name: 'config',
    kind: 'text',
    allowed: LIFE_MODULE_ALLOWED,
    default: 'a server without hooks',
    meaning: 'The life whose plan is printed',
  },
  { name: 'json', kind: 'switch', allowed: '', default: 'off', meaning: 'Print one JSON document, with all times in milliseconds' },
]
