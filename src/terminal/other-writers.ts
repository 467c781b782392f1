import fs from 'node:fs'
import { StringDecoder } from 'node:string_decoder'
import { setImmediate } from 'node:timers'

/** A stream of the process, as far as it is taken over. */
export type Stream = Pick<NodeJS.WriteStream, 'write'> & { readonly fd: number }

/**
 * Takes over what the program itself writes to some terminals until disposed: by their streams
 * (`console`, most loggers) and by their file descriptors (pino). Text that goes past that, from
 * worker threads and child processes, is not seen here.
 *
 * @param take gets all of it in order, as text
 */
export function takeOverWriters(streams: readonly Stream[], take: (text: string) => void): Disposable {
  let isOver = false
  const decoders = new Map<number, StringDecoder>(streams.map(({ fd }) => [fd, new StringDecoder('utf8')]))
  const taken = (fd: number, chunk: unknown, encoding?: unknown): boolean => {
    const text = isOver ? undefined : textOf(chunk, encoding, decoders.get(fd))
    if (text !== undefined) take(text)
    return text !== undefined
  }
  const restored = [
    ...streams.map((stream) =>
      replace(
        stream,
        'write',
        (write) =>
          function (this: unknown, ...args: Args) {
            const [chunk, encoding] = args
            if (!taken(stream.fd, chunk, encoding)) return write.apply(this, args)
            const callback = args.find((arg) => typeof arg === 'function') as (() => void) | undefined
            if (callback) process.nextTick(callback)
            return true
          },
      ),
    ),
    replace(
      fs,
      'writeSync',
      (write) =>
        function (this: unknown, ...args: Args) {
          const bytes = part(args)
          return bytes !== undefined && taken(Number(args[0]), bytes) ? bytes.length : write.apply(this, args)
        },
    ),
    replace(
      fs,
      'write',
      (write) =>
        function (this: unknown, ...args: Args) {
          const callback = args.at(-1)
          const bytes = part(args)
          if (typeof callback !== 'function' || bytes === undefined || !taken(Number(args[0]), bytes)) return write.apply(this, args)
          setImmediate(callback as (...answer: unknown[]) => void, null, bytes.length, args[1])
          return undefined
        },
    ),
  ]
  return {
    [Symbol.dispose]: () => {
      isOver = true
      for (const restore of restored) restore()
    },
  }

  /** The bytes of a call of `fs.write`, in whichever of its forms; undefined for other files. */
  function part([fd, what, second, third]: Args): Buffer | undefined {
    if (isOver || !decoders.has(Number(fd))) return undefined
    if (typeof what === 'string') return Buffer.from(what, encodingOf(third))
    if (!ArrayBuffer.isView(what)) return undefined
    const all = Buffer.from(what.buffer, what.byteOffset, what.byteLength)
    const { offset = 0, length } = isRange(second) ? second : { offset: numberOf(second), length: numberOf(third) }
    return all.subarray(offset ?? 0, length === undefined ? undefined : (offset ?? 0) + length)
  }
}

type Args = unknown[]
type Method = (this: unknown, ...args: Args) => unknown

/** Puts another function in the place of a method, and returns how to take it away. */
function replace(object: object, name: string, replacement: (original: Method) => Method): () => void {
  const methods = object as Record<string, Method>
  const own = Object.getOwnPropertyDescriptor(object, name)
  const original = methods[name] as Method
  const other = replacement(original)
  // What node keeps there: how to make a promise of it.
  for (const key of Object.getOwnPropertySymbols(original))
    Object.defineProperty(other, key, Object.getOwnPropertyDescriptor(original, key) as PropertyDescriptor)
  methods[name] = other
  return () => {
    // One that came later still calls ours, which lets everything through by now.
    if (methods[name] !== other) return
    if (own) Object.defineProperty(object, name, own)
    else delete methods[name]
  }
}

function textOf(chunk: unknown, encoding: unknown, decoder: StringDecoder | undefined): string | undefined {
  if (typeof chunk === 'string') return isEncodedText(encoding) ? Buffer.from(chunk, encoding).toString() : chunk
  return ArrayBuffer.isView(chunk) ? decoder?.write(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)) : undefined
}

/** A string that stands for bytes, `'aGk='` in base64. */
const isEncodedText = (encoding: unknown): encoding is 'hex' | 'base64' | 'base64url' =>
  encoding === 'hex' || encoding === 'base64' || encoding === 'base64url'

const encodingOf = (given: unknown): BufferEncoding => (typeof given === 'string' && Buffer.isEncoding(given) ? given : 'utf8')
const numberOf = (given: unknown): number | undefined => (typeof given === 'number' ? given : undefined)
const isRange = (given: unknown): given is { readonly offset?: number; readonly length?: number } =>
  typeof given === 'object' && given !== null
