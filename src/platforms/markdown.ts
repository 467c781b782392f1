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
