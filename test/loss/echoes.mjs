// @ts-check
// Requests for objects: what the clients of a loss run ask a server with resources, and how they know that the answer is the right one.

const PATH = '/apis/loss.example/v1/namespaces/default/echoes'

/**
 * An object that its name says all of is read, or one is created.
 * @param {'GET' | 'POST'} method @param {number} count @param {number} ms that it takes @param {number} bytes of the body
 * @returns {{ request: import('./clients.mjs').Request, isAnswer: (response: import('./clients.mjs').Response) => boolean, answer: string }}
 */
export function requestForObject(method, count, ms, bytes) {
  const note = 'x'.repeat(bytes)
  const object = echoOf(method === 'GET' ? `e${count}-${ms}` : undefined, { count, ms, note })
  const request =
    method === 'GET' ? { method, path: `${PATH}/${object.metadata.name}`, body: '' } : { method, path: PATH, body: JSON.stringify(object) }
  return {
    request,
    answer: `an echo of ${count} with ${bytes} bytes`,
    isAnswer: ({ status, body }) => {
      if (status !== (method === 'GET' ? 200 : 201)) return false
      try {
        const { kind, metadata, spec } = JSON.parse(body)
        return kind === 'Echo' && metadata.name.startsWith('e') && spec.count === count && spec.note === note
      } catch {
        return false
      }
    },
  }
}

/** @param {string | undefined} name @param {{ count: number, ms: number, note: string }} spec */
const echoOf = (name, spec) => ({
  apiVersion: 'loss.example/v1',
  kind: 'Echo',
  metadata: name === undefined ? { generateName: 'e-' } : { name, namespace: 'default' },
  spec,
})

/** The object of this name: it is kept nowhere. @param {string} name */
export function echoNamed(name) {
  const [, count, ms] = /^e(\d+)-(\d+)$/.exec(name) ?? []
  return count === undefined ? undefined : echoOf(name, { count: Number(count), ms: Number(ms), note: '' })
}

/**
 * What the server does that clients go on at, which has no life: the same objects by hand.
 * @param {string} pathname @param {string} body
 */
export function answerForObject(pathname, body) {
  if (!pathname.startsWith(PATH)) return undefined
  const read = echoNamed(pathname.slice(PATH.length + 1))
  if (read) return { status: 200, ms: read.spec.ms, body: JSON.stringify(read) }
  const created = JSON.parse(body)
  return { status: 201, ms: created.spec.ms, body: JSON.stringify({ ...created, metadata: { name: 'e-by-hand' } }) }
}
