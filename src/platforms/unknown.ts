import type { PlatformSpec } from './platform.ts'

/** The last in the list: it is always there. */
export const unknown = {
  name: 'unknown',
  otherNames: ['none', 'other', 'bare', 'local', 'vm'],
  where: 'elsewhere',
  signs: [{ words: 'no sign of any platform', isThere: () => true }],
  ends: '',
  defaults: {},
} as const satisfies PlatformSpec
