import { warnOn } from './chain/warnings.ts'
import type { CompletedConfig } from './config.ts'
import type { Delegate } from './delegate.ts'
import type { Host, InspectedRoot } from './engine.ts'
import type { Facts } from './facts.ts'
import { GroupInstaller } from './groups/group-installer.ts'
import type { ApiServerRegistrations } from './registrations.ts'
import { type StorageReadiness, storageAwaiter } from './storage-readiness.ts'

interface Parts {
  readonly host: Host
  readonly config: CompletedConfig
  /** The name of the server. */
  readonly name: string
  readonly delegate: Delegate
  readonly facts: Facts
  readonly registered: ApiServerRegistrations
  readonly storageReadiness: StorageReadiness
  /** Has those who watch the server see the actors of a system. */
  readonly watch: (root: InspectedRoot) => void
}

/** Makes what installs the API groups of a server, of all that it needs of that server. */
export function installerFor({ host, config, name, delegate, facts, registered, storageReadiness, watch }: Parts): GroupInstaller {
  const { clock, random } = host
  const failed = (error: unknown): void => facts.failed('API groups', error)
  return new GroupInstaller({
    world: {
      clock,
      random,
      warn: (exchange, text) => warnOn(exchange, '', text),
      admission: config.admission ?? [],
      bodyMax: config.maxRequestBodyBytes,
      failed,
    },
    warn: facts.warn,
    delegated: () => delegate.apiGroups ?? [],
    storages: {
      awaitReady: storageAwaiter(name, storageReadiness, registered),
      failed,
      warn: facts.warn,
      watch,
      addCheck: (check, run) => registered.addSharedCheck(check, run),
      destroyAtEnd: (destroy) => registered.addDestroyAtAnyTime(`${name}-storages`, destroy),
    },
    info: { title: 'Generic API Server', version: config.version['gitVersion'] || 'unversioned' },
  })
}
