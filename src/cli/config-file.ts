import { readText } from './read-text.ts'

/**
 * The content of a config file: YAML by its name (`.yaml`, `.yml`), else JSON.
 *
 * @param signal aborted, reading ends; a pipe without a writer would be waited for without end, as
 * by every reader of one
 * @throws whatever is wrong with the file, in words that can follow its name, or the signal's
 * reason
 */
export async function readConfigFile(path: string, signal: AbortSignal): Promise<unknown> {
  const content = await readText(path, signal)
  return /\.ya?ml$/i.test(path) ? parseYaml(content) : JSON.parse(content)
}

/** YAML is an optional peer: most files are JSON, and only YAML should need a parser installed. */
async function parseYaml(text: string): Promise<unknown> {
  const yaml = await import('yaml').catch(() => {
    throw new Error('reading YAML needs the package "yaml": npm install yaml')
  })
  return yaml.parse(text)
}
