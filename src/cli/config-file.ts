import { readFile } from 'node:fs/promises'

/**
 * The content of a config file: YAML by its name (`.yaml`, `.yml`), else JSON.
 * @throws whatever is wrong with the file, in words that can follow its name
 */
export async function readConfigFile(path: string): Promise<unknown> {
  const text = await readFile(path, 'utf8')
  return /\.ya?ml$/i.test(path) ? parseYaml(text) : JSON.parse(text)
}

/** YAML is an optional peer: most files are JSON, and nobody else should have to install a parser. */
async function parseYaml(text: string): Promise<unknown> {
  const yaml = await import('yaml').catch(() => {
    throw new Error('reading YAML needs the package "yaml": npm install yaml')
  })
  return yaml.parse(text)
}
