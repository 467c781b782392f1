import { isSet, type PlatformSpec } from './platform.ts'

export const heroku = {
  name: 'heroku',
  where: 'on Heroku',
  signs: [isSet('DYNO')],
  signalsAll: true,
  endsTrafficFirst: true,
  ends: 'SIGTERM',
  kills: { after: '30s' },
  defaults: { deadline: '25s' },
} as const satisfies PlatformSpec
