import { QuiesceError } from '../base/errors.ts'

let looking = 0

/** Whether a server that cannot listen is heard of where its module is imported. */
export const mayListen = (): boolean => looking > 0

/**
 * Calls `look`, which imports a module of the user's, while the module's own server that cannot
 * listen is no crash of the command. Such a server says so in a turn of its own.
 * @throws QuiesceError ERR_OPTION_INVALID when it could not
 */
export async function withoutListening<T>(label: string, path: string, look: () => Promise<T>): Promise<T> {
  let failed: unknown
  const onUncaught = (error: Error): void => {
    if (isOfListen(error)) failed ??= error
    // As if this had not listened; node knows best how to say it.
    else
      setImmediate(() => {
        process.off('uncaughtException', onUncaught)
        throw error
      })
  }
  process.on('uncaughtException', onUncaught)
  looking++
  try {
    const found = await look()
    await new Promise((resolve) => setImmediate(resolve))
    if (failed !== undefined) throw refusal(label, path, failed)
    return found
  } catch (thrown) {
    const own = failed ?? (thrown instanceof QuiesceError ? thrown.cause : thrown)
    throw isOfListen(own) ? refusal(label, path, own) : thrown
  } finally {
    looking--
    process.off('uncaughtException', onUncaught)
  }
}

export const isOfListen = (error: unknown): error is Error =>
  error instanceof Error && (error as NodeJS.ErrnoException).syscall === 'listen'

function refusal(label: string, path: string, error: unknown): QuiesceError {
  const { message } = error as Error
  return new QuiesceError(
    'ERR_OPTION_INVALID',
    `${label}: ${path} listens when it is imported, and could not (${message}): give attachLifecycle() an http.Server that does not listen yet, or export a function that makes the server`,
    {},
    error,
  )
}
