import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { optionError, QuiesceError, toError } from '../base/errors.ts'
import { createServer } from '../create-server.ts'
import type { Layout } from '../diagram/drawing/graph.ts'
import { type Diagram, type DiagramFormat, diagramsOf, elkLayout } from '../diagram/index.ts'
import type { Life } from '../lifecycle/life.ts'
import type { ExitCode } from '../machines/exit-codes.ts'
import { planOf } from '../model/life/lifecycle-model.ts'
import { DIAGRAM_OPTIONS } from './diagram-flags.ts'
import { firstLine } from './first-line.ts'
import type { CliHost } from './host.ts'
import { LIFE_MODULE_ALLOWED, readLifeModule } from './life-module.ts'
import { readOptions } from './settings.ts'

const EXTENSIONS: Readonly<Record<DiagramFormat, string>> = { svg: 'svg', mermaid: 'mmd' }

/**
 * Writes the pictures of a life, one file each, and says which.
 * @throws QuiesceError for arguments that cannot be used and for a life that cannot be composed,
 * one line for every problem
 */
export async function diagramCommand(host: CliHost, args: readonly string[]): Promise<ExitCode> {
  const { config, out, format } = readOptions('quiesce diagram', DIAGRAM_OPTIONS, args).options
  const life = config === undefined ? builtIn() : (await readLifeModule('--config', config)).life
  const layout = format === 'svg' ? await layoutFor(host) : undefined
  for (const diagram of await drawn(life, config, format, layout)) {
    const file = join(out, `${diagram.name}.${EXTENSIONS[format]}`)
    await write(file, diagram, out)
    host.stdout.write(`${file}\n`)
  }
  return 0
}

/**
 * A life without anything of the user's, with the times of one platform, so that the pictures are
 * the same wherever they are drawn.
 */
const builtIn = (): Life => createServer({ listener: () => {} }, { logger: false, platform: 'kubernetes' })

async function layoutFor({ stderr }: CliHost): Promise<Layout | undefined> {
  try {
    return await elkLayout()
  } catch (thrown) {
    if (!(thrown instanceof QuiesceError)) throw thrown
    stderr.write(`quiesce: the package elkjs is not installed, so the layout is simpler; npm install elkjs makes it better\n`)
    return undefined
  }
}

async function drawn(
  life: Life,
  config: string | undefined,
  format: DiagramFormat,
  layout: Layout | undefined,
): Promise<readonly Diagram[]> {
  try {
    return await diagramsOf(planOf(life), { format, ...(layout && { layout }) })
  } catch (thrown) {
    if (!(thrown instanceof QuiesceError) || config === undefined) throw thrown
    throw optionError('--config', config, `${LIFE_MODULE_ALLOWED} (${firstLine(thrown.message)})`)
  }
}

async function write(file: string, { text }: Diagram, out: string): Promise<void> {
  try {
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, text)
  } catch (thrown) {
    throw optionError('--out', out, `a folder that can be written (${firstLine(toError(thrown).message)})`)
  }
}
