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
  return /\.ya?ml$/i.test(path) ? parseYaml(content) : parseJson(content)
}

/** Of a name that stands twice the last would count, and nothing would say so: YAML refuses it. */
function parseJson(text: string): unknown {
  const value: unknown = JSON.parse(text)
  /** The open objects and lists, each with its names and the one that is being read. */
  const open: { readonly names: Set<string>; name: string }[] = []
  let before = ''
  for (const [token] of text.matchAll(/"[^"\\]*(?:\\.[^"\\]*)*"?|[{}[\]:]/g)) {
    const innermost = open.at(-1)
    if (token === '{' || token === '[') open.push({ names: new Set(), name: '' })
    else if (token === '}' || token === ']') open.pop()
    else if (token === ':' && innermost) {
      innermost.name = JSON.parse(before) as string
      const path = open.flatMap((each) => each.name || []).join('.')
      if (innermost.names.has(innermost.name)) throw new Error(`it has ${path} twice, allowed: each name once`)
      innermost.names.add(innermost.name)
    }
    before = token
  }
  return value
}

/** YAML is an optional peer: most files are JSON, and only YAML should need a parser installed. */
async function parseYaml(text: string): Promise<unknown> {
  const yaml = await import('yaml').catch(() => {
    throw new Error('reading YAML needs the package "yaml": npm install yaml')
  })
  return yaml.parse(text)
}
