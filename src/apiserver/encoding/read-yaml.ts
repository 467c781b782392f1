import { QuiesceError, toError } from '../../base/errors.ts'

/** What is wrong with a text that is neither. */
const unreadable = (name: string, text: string, why: string, cause?: unknown): QuiesceError =>
  new QuiesceError('ERR_OPTION_INVALID', `${name}: ${why}`, { field: name, given: text, allowed: 'YAML or JSON' }, cause)

/**
 * The documents of a YAML text, or the value of a JSON one; empty documents are left out.
 * @param name stands in front of what is wrong, such as the file's name
 * @throws QuiesceError ERR_OPTION_INVALID for a text that cannot be read, ERR_DEPENDENCY_MISSING
 * for YAML without the package `yaml`
 */
export async function readDocuments(text: string, name: string): Promise<readonly unknown[]> {
  if (/^\s*[{[]/.test(text)) {
    try {
      return [JSON.parse(text)]
    } catch (thrown) {
      throw unreadable(name, text, toError(thrown).message, thrown)
    }
  }
  const { parseAllDocuments } = await import('yaml').catch((cause: unknown) => {
    throw new QuiesceError('ERR_DEPENDENCY_MISSING', 'reading YAML needs the package "yaml": npm install yaml', { package: 'yaml' }, cause)
  })
  const documents = [parseAllDocuments(text)].flat()
  const errors = documents.flatMap((document) => document.errors)
  if (errors.length > 0) throw unreadable(name, text, errors.map(({ message }) => message).join('\n'), errors[0])
  try {
    return documents.map((document): unknown => document.toJS()).filter((value) => value !== null)
  } catch (thrown) {
    // Aliases that stand for too much.
    throw unreadable(name, text, toError(thrown).message, thrown)
  }
}

/** The same for a text of one document; undefined for an empty one. */
export async function readDocument(text: string, name: string): Promise<unknown> {
  const [first, ...others] = await readDocuments(text, name)
  if (others.length > 0) throw unreadable(name, text, `has ${others.length + 1} documents, allowed: 1`)
  return first
}
