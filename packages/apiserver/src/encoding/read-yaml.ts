import { QuiesceError, toError } from '../engine.ts'
import { lookAtJson } from './json-text.ts'

/** What is wrong with a text that is neither. Nothing of it is shown: it may hold secrets. */
const unreadable = (name: string, why: string): QuiesceError =>
  new QuiesceError('ERR_OPTION_INVALID', `${name}: ${why}`, { field: name, given: name, allowed: 'YAML or JSON' })

/** The first line of a message of the parser, which says the place; the rest quotes the text. */
const ofYaml = ({ message }: Error): string => (message.split('\n', 1)[0] as string).replace(/:$/, '')

/** Node's message quotes some characters before and behind the place. */
const ofJson = ({ message }: Error): string => message.replace(/, (?:\.\.\.)?".*(?= is not valid JSON)/s, '')

/** Whether it is JSON, by its first character; YAML that begins so is taken for JSON. */
const isJson = (text: string): boolean => /^\s*[{[]/.test(text)

/**
 * The documents of a YAML text, or the value of a JSON one; empty documents are left out.
 * @param name stands in front of what is wrong, such as the file's name
 * @throws QuiesceError ERR_OPTION_INVALID for a text that cannot be read
 */
export async function readDocuments(text: string, name: string): Promise<readonly unknown[]> {
  if (isJson(text)) {
    let value: unknown
    try {
      value = JSON.parse(text)
    } catch (thrown) {
      throw unreadable(name, ofJson(toError(thrown)))
    }
    // As YAML has it.
    const [twice] = lookAtJson(text, 1).duplicates
    if (twice !== undefined) throw unreadable(name, `has ${twice} twice, allowed: once`)
    return [value]
  }
  const { parseAllDocuments } = await import('yaml')
  const documents = [parseAllDocuments(text)].flat()
  const errors = documents.flatMap((document) => document.errors)
  if (errors.length > 0) throw unreadable(name, errors.map(ofYaml).join('\n'))
  try {
    return documents.map((document): unknown => document.toJS()).filter((value) => value !== null)
  } catch (thrown) {
    // Aliases that stand for too much.
    throw unreadable(name, ofYaml(toError(thrown)))
  }
}

/** The same for a text of one document; undefined for an empty one. */
export async function readDocument(text: string, name: string): Promise<unknown> {
  const [first, ...others] = await readDocuments(text, name)
  if (others.length > 0) throw unreadable(name, `has ${others.length + 1} documents, allowed: 1`)
  return first
}
