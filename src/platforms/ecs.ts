import { isSet, type PlatformSpec } from './platform.ts'

/** Amazon ECS, Fargate included. */
export const ecs = {
  name: 'ecs',
  otherNames: ['aws', 'fargate', 'amazon'],
  where: 'on ECS',
  signs: [isSet('ECS_CONTAINER_METADATA_URI_V4'), isSet('ECS_CONTAINER_METADATA_URI')],
  endsTrafficFirst: true,
  ends: 'SIGTERM',
  kills: { after: '30s', setBy: '`stopTimeout`' },
  defaults: { deadline: '25s' },
} as const satisfies PlatformSpec
