import { FRONTS, type FrontSpec } from './fronts.ts'
import type { Kill, PlatformSpec } from './platform.ts'
import { PLATFORMS } from './platforms.ts'

const HEAD = `\
| \`platform\` | is where | recognised by | ends a process by | \`deadline\` | \`shutdownDelay\` |
|---|---|---|---|---|---|`

/** The list of platforms for documentation, in Markdown. */
export function platformsMarkdown(elsewhere: { readonly deadline: string; readonly shutdownDelay: string }): string {
  const specs: readonly PlatformSpec[] = PLATFORMS
  const killed = ({ after, setBy }: Kill): string => `, SIGKILL after ${after}${setBy === undefined ? '' : ` (${setBy})`}`
  const rows = specs.map(({ name, where, signs, ends, kills, defaults }) => {
    const { deadline, shutdownDelay } = { ...elsewhere, ...defaults }
    return `| \`${name}\` | ${where} | ${signs.map(({ words }) => words).join('; or ')} | ${ends}${kills ? killed(kills) : ''} | ${deadline} | ${shutdownDelay} |`
  })
  return [HEAD, ...rows].join('\n')
}

const FRONTS_HEAD = `\
| \`behind\` | is | keeps idle connections for | \`keepAliveTimeout\` | \`shutdownDelay\` | \`deadline\` |
|---|---|---|---|---|---|`

/** The list of what may be in front, for documentation. */
export function frontsMarkdown(): string {
  const specs: readonly FrontSpec[] = FRONTS
  const rows = specs.map(({ name, where, idle = 'as clients do', isFixed, defaults: { keepAliveTimeout, shutdownDelay, deadline } }) => {
    const kept = isFixed ? `${idle}, which cannot be changed` : idle
    return `| \`${name}\` | ${where} | ${kept} | ${keepAliveTimeout} | ${shutdownDelay} | ${deadline} |`
  })
  return [FRONTS_HEAD, ...rows].join('\n')
}
