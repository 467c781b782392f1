export const SECONDS_DEFAULT = 30
export const SECONDS_MAX = 600

/** Profiles by name, and in which words an index speaks of them. */
export const PROFILES = {
  profile: `a CPU profile (.cpuprofile) of ?seconds=${SECONDS_DEFAULT}, at most ${SECONDS_MAX}`,
  heap: 'a heap snapshot (.heapsnapshot); the process stands still while it is taken',
} as const

export type ProfileName = keyof typeof PROFILES

/** Where they are, as upstream has them. */
export const PROFILE_PATHS = { profile: '/debug/pprof/profile', heap: '/debug/pprof/heap' } as const satisfies Record<ProfileName, string>
