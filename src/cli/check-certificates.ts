import type { SecureContextOptions } from 'node:tls'
import { BOLD, oneLine, painter, RED, YELLOW } from '../base/cells.ts'
import { systemClock } from '../base/clock.ts'
import type { ResolvedOptions, ResolvedServerOptions } from '../options/options.ts'
import type { Finding } from '../tls/examine.ts'
import type { VerdictsTextOptions } from './printed-verdicts.ts'

/**
 * What the listeners of a life serve, looked at without serving it; nothing for a server of the
 * user's own, which has its certificates already.
 */
export async function examineCertificates(options: ResolvedOptions): Promise<readonly Finding[]> {
  const { listeners = [], serverOptions } = options as Partial<ResolvedServerOptions>
  const all = listeners.flatMap(({ tls }) => tls ?? [])
  if (all.length === 0) return []
  const { examine } = await import('../tls/examine.ts')
  const found = await Promise.all(all.map((tls) => examine(tls, { ...serverOptions } as SecureContextOptions, systemClock.wall())))
  // Several listeners may serve one pair.
  return [...new Map(found.flat().map((finding) => [finding.text, finding])).values()]
}

const COLOURS = { holds: undefined, warns: YELLOW, fails: RED } as const

/** One line that sums up, and below it what fails and what is warned of; empty without any. */
export function certificatesText(findings: readonly Finding[], { verbose, color }: VerdictsTextOptions): string {
  if (findings.length === 0) return ''
  const paint = painter(color)
  const held = findings.filter(({ verdict }) => verdict !== 'fails').length
  const lines = findings
    .filter(({ verdict }) => verbose || verdict !== 'holds')
    .map(({ verdict, text }) => {
      const line = `  ${verdict === 'fails' ? 'FAILS' : verdict}  ${oneLine(text)}`
      const colour = COLOURS[verdict]
      return colour === undefined ? line : paint(colour, line)
    })
  const sum = `certificates: ${held} of ${findings.length} hold`
  return `${[paint(held < findings.length ? RED : BOLD, sum), ...lines].join('\n')}\n`
}
