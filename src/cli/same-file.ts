import type { Flag } from '../options/kit/flags.ts'
import { placeOfFile } from '../options/kit/place-of-file.ts'
import type { Settings } from './arguments.ts'

/** A file that a command is given, named as it was written. */
export interface GivenFile {
  readonly label: string
  readonly path: string | undefined
}

/** The flags of files that are written; all other files are read. */
const OUTPUTS: readonly string[] = ['trace-file', 'promela', 'report-file', 'journal', 'audit-log-path']

/** The files that settings name, by whether they are written. */
export function filesOf(flags: readonly Flag[], settings: Settings): { readonly outputs: GivenFile[]; readonly inputs: GivenFile[] } {
  const files = flags.flatMap(({ name, placeholder }) => {
    const setting = placeholder === 'FILE' ? settings.get(name) : undefined
    return typeof setting?.given === 'string' ? [{ name, label: setting.label, path: setting.given }] : []
  })
  return { outputs: files.filter(({ name }) => OUTPUTS.includes(name)), inputs: files.filter(({ name }) => !OUTPUTS.includes(name)) }
}

/**
 * One line for each output that would replace what the command reads, or another output. Where a
 * file is not one that is replaced, as `/dev/null`, several may go there.
 */
export function overwritten(outputs: readonly GivenFile[], inputs: readonly GivenFile[]): string[] {
  const taken = inputs.map(placed)
  return outputs.flatMap((output) => {
    const { label, path, place } = placed(output)
    if (path === undefined || place === undefined) return []
    const other = taken.find((each) => each.place === place)
    taken.push({ label, path, place })
    return other ? [`${label}: got ${JSON.stringify(path)}, allowed: another file than that of ${other.label}`] : []
  })
}

const placed = (file: GivenFile) => ({ ...file, place: file.path === undefined ? undefined : placeOfFile(file.path) })
