import type { WordingOptions } from '../options/rows/wording.ts'
import type { CommandPage } from './command-page.ts'

/** Where API servers come from. */
export const API_SERVER_PACKAGE = '@quiesce/apiserver'

/** Its command, `quiesce-apiserver`, where it is installed: `quiesce apiserver` runs that. */
export const apiServerProgram = (): string | undefined => fileOfPackage('dist/cli.js')

/** What its command is, where it is installed. */
export async function apiServerPage(): Promise<CommandPage | undefined> {
  const page = fileOfPackage('dist/page.js')
  return page === undefined ? undefined : ((await import(page)) as { readonly PAGE: CommandPage }).PAGE
}

function fileOfPackage(file: string): string | undefined {
  try {
    return new URL(file, import.meta.resolve(`${API_SERVER_PACKAGE}/package.json`)).href
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
