import { constants, openSync } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { Socket } from 'node:net'
import { addAbortSignal } from 'node:stream'
import { text } from 'node:stream/consumers'

/**
 * The content of a config file: YAML by its name (`.yaml`, `.yml`), else JSON.
 *
 * @param signal aborted, reading ends; a pipe that nobody writes to would be waited for without end, as by every reader of one
 * @throws whatever is wrong with the file, in words that can follow its name, or the signal's reason
 */
export async function readConfigFile(path: string, signal: AbortSignal): Promise<unknown> {
  const content = await readText(path, signal)
  return /\.ya?ml$/i.test(path) ? parseYaml(content) : JSON.parse(content)
}

/**
 * A named pipe is read as a stream: opening or reading it as a file would park a thread in the kernel until somebody writes,
 * and not even `process.exit` ends a process before that thread has returned.
 */
async function readText(path: string, signal: AbortSignal): Promise<string> {
  signal.throwIfAborted()
  if (!(await stat(path)).isFIFO()) return readFile(path, { encoding: 'utf8', signal })
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  return text(addAbortSignal(signal, new Socket({ fd, readable: true, writable: false })))
}

/** YAML is an optional peer: most files are JSON, and nobody else should have to install a parser. */
async function parseYaml(text: string): Promise<unknown> {
  const yaml = await import('yaml').catch(() => {
    throw new Error('reading YAML needs the package "yaml": npm install yaml')
  })
  return yaml.parse(text)
}
