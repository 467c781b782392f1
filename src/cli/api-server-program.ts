import type { WordingOptions } from '../options/rows/wording.ts'

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

/** The words of Kubernetes' API server, where its package is installed. */
export async function apiServerWording(): Promise<WordingOptions | undefined> {
  try {
    return ((await import(API_SERVER_PACKAGE)) as { readonly apiserverWording: WordingOptions }).apiserverWording
  } catch {
    return undefined
  }
}
