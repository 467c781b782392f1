import { isSet, type PlatformSpec } from './platform.ts'

export const nomad = {
  name: 'nomad',
  where: 'on Nomad',
  signs: [isSet('NOMAD_ALLOC_ID')],
  ends: 'SIGINT',
  kills: { after: '5s', setBy: '`kill_timeout`' },
  defaults: { deadline: '4s' },
} as const satisfies PlatformSpec
