import { FRONTS } from './fronts.ts'
import type { PlatformSpec } from './platform.ts'
import { PLATFORMS } from './platforms.ts'

const HEAD = `\
| \`platform\` | is where | recognised by | ends a process by | \`deadline\` | \`shutdownDelay\` |
|---|---|---|---|---|---|`

/** The list of platforms for documentation, in Markdown. */
export function platformsMarkdown(elsewhere: { readonly deadline: string; readonly shutdownDelay: string }): string {
  const specs: readonly PlatformSpec[] = PLATFORMS
  const rows = specs.map(({ name, where, signs, ends, defaults }) => {
    const { deadline, shutdownDelay } = { ...elsewhere, ...defaults }
    return `| \`${name}\` | ${where} | ${signs.map(({ words }) => words).join('; or ')} | ${ends} | ${deadline} | ${shutdownDelay} |`
  })
  return [HEAD, ...rows].join('\n')
}

const FRONTS_HEAD = `\
| \`behind\` | is | keeps idle connections for | \`keepAliveTimeout\` | \`shutdownDelay\` | \`deadline\` |
|---|---|---|---|---|---|`

/** The list of what may be in front, for documentation. */
export const frontsMarkdown = (): string =>
  [
    FRONTS_HEAD,
    ...FRONTS.map(
      ({ name, where, keepsIdle, defaults: { keepAliveTimeout, shutdownDelay, deadline } }) =>
        `| \`${name}\` | ${where} | ${keepsIdle} | ${keepAliveTimeout} | ${shutdownDelay} | ${deadline} |`,
    ),
  ].join('\n')
