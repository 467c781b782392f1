import type { PlatformSpec } from './platform.ts'

/** Anything else that runs containers: `docker stop` and its like. */
export const container = {
  name: 'container',
  otherNames: ['docker', 'podman', 'compose', 'docker-compose'],
  where: 'in a container',
  signs: [
    { words: '/.dockerenv or /run/.containerenv exists', isThere: ({ containerFile }) => containerFile },
    { words: 'the process is PID 1', isThere: ({ pid }) => pid === 1 },
  ],
  ends: 'SIGTERM',
  kills: { after: '10s', setBy: '`docker stop --time`, `stop_grace_period`' },
  defaults: {},
} as const satisfies PlatformSpec
