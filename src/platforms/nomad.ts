import { isSet, type PlatformSpec } from './platform.ts'

export const nomad = {
  name: 'nomad',
  where: 'on Nomad',
  signs: [isSet('NOMAD_ALLOC_ID')],
  ends: 'SIGINT, SIGKILL after 5 s (kill_timeout)',
  defaults: { deadline: '4s' },
} as const satisfies PlatformSpec
