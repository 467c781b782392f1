import { isSet, type PlatformSpec } from './platform.ts'

export const fly = {
  name: 'fly',
  otherNames: ['fly.io', 'flyio', 'fly-io'],
  where: 'on Fly.io',
  // FLY_APP_NAME is a setting that people keep in their shell.
  signs: [isSet('FLY_MACHINE_ID')],
  endsTrafficFirst: true,
  ends: 'SIGINT',
  kills: { after: '5s', setBy: '`kill_timeout`' },
  defaults: { deadline: '4s' },
} as const satisfies PlatformSpec
