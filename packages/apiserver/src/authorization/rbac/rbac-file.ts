import { readDocuments } from '../../encoding/read-yaml.ts'
import { checkArguments, QuiesceError, Reloader } from '../../engine.ts'
import { readNamed } from '../../named-file.ts'
import type { Authorizer } from '../authorizer.ts'
import { bindsSubjects, type RbacPolicy, rbacPolicy } from './policy.ts'

/**
 * The same as `rbac()` from a file, YAML or JSON, with several documents. It is read before the
 * server listens: a file that cannot be used is a failed start. While it serves the file is
 * watched; another one that can be used takes the place of what there was at once, and one that
 * cannot changes nothing and is reported. One that binds no subject to a role can be used, with a
 * warning.
 */
export function rbacFile(file: string): Authorizer {
  checkArguments('rbacFile(file)', [file, 'a text'])
  let text: string | undefined
  let policy: RbacPolicy | undefined
  let reloader: Reloader | undefined
  const current = (): RbacPolicy => {
    if (policy === undefined) throw new QuiesceError('ERR_INTERNAL', `${file} has not been read`)
    return policy
  }

  const refreshFrom = async (warn: (message: string) => void): Promise<void> => {
    const read = await readNamed(file)
    if (read === text) return
    const documents = await readDocuments(read, file)
    policy = rbacPolicy(documents, (index) => (documents.length === 1 ? file : `${file}: document ${index + 1}`))
    text = read
    if (!bindsSubjects(documents)) warn(`${file}: the file binds no subject to a role, so it allows nothing`)
  }
  return {
    authorize: (attributes) => current().decide(attributes),
    rulesFor: (user, namespace) => current().rulesFor(user, namespace),
    open: async ({ clock, failed, warn }) => {
      await refreshFrom(warn)
      const refresh = (): Promise<QuiesceError[]> =>
        refreshFrom(warn).then(
          () => [],
          (thrown: unknown) => [thrown as QuiesceError],
        )
      reloader = new Reloader({ clock, files: [file], refresh, failed, tick: () => {} })
      reloader.begin()
    },
    close: () => reloader?.close(),
  }
}
