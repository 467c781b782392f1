/** Where API servers come from. */
export const API_SERVER_PACKAGE = '@quiesce/apiserver'

/** Its command, `quiesce-apiserver`, where it is installed: `quiesce apiserver` runs that. */
export function apiServerProgram(): string | undefined {
  try {
    return new URL('dist/cli.js', import.meta.resolve(`${API_SERVER_PACKAGE}/package.json`)).href
  } catch {
    return undefined
  }
}
