/**
 * What a look around finds, such as a file that only containers have, /proc, or a variable of the
 * environment; undefined where it fails, whatever the reason: there is none, a sandbox hides it, or
 * the process lacks the right to know (Node's permission model, Deno). For everything that finds a
 * default, a number for the report or a word for a warning: none of them is worth a life. What the
 * user has named is read without it, and its errors are errors.
 */
export function look<T>(find: () => T): T | undefined {
  try {
    return find()
  } catch {
    return undefined
  }
}

export type EnvironmentVariables = Readonly<Record<string, string | undefined>>

/** The value of a variable; one that may not be read is not set. */
export const variable = (env: EnvironmentVariables, name: string): string | undefined => look(() => env[name])
