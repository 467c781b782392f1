import { isSet, type PlatformSpec } from './platform.ts'

/** Cloud Run, and Knative anywhere else, whose queue proxy has already waited. */
export const cloudRun = {
  name: 'cloud-run',
  otherNames: ['gcp', 'google', 'gcr', 'knative', 'cloudrun', 'run'],
  where: 'on Cloud Run',
  signs: [isSet('K_SERVICE')],
  endsTrafficFirst: true,
  ends: 'SIGTERM',
  kills: { after: '10s' },
  defaults: {},
} as const satisfies PlatformSpec
