import { takesColor } from '../platforms/terminal.ts'
import type { CommandHost } from './command-host.ts'
import type { RunSettings, ServeSettings } from './flags.ts'

/** The world of `quiesce`. */
export interface CliHost extends CommandHost {
  /** Serves until stopped; resolves when the life is over. It sets the exit code itself. */
  readonly serve: (settings: ServeSettings, host: CliHost) => Promise<void>
  /** The same for a module of the user's; resolves with an exit code when there was no life. */
  readonly run: (settings: RunSettings, host: CliHost) => Promise<number | undefined>
}

/** Colour and width of the terminal, if it is one. */
export const renderOptions = ({
  stdout,
  env,
}: Pick<CliHost, 'stdout' | 'env'>): { readonly color: boolean; readonly columns?: number } => ({
  color: takesColor(stdout, env),
  // A terminal that does not know its width says 0.
  ...(stdout.columns && { columns: stdout.columns }),
})
