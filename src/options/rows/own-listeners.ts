import { defineOptions, option } from '../kit/define.ts'
import { ADDRESS_ALLOWED, addressOf, fieldsNeeding, socketFile } from '../kit/kinds.ts'
import { ADDRESS_OPTIONS } from './address.ts'
import { INSPECTOR_OPTIONS, inspector } from './inspector.ts'

/** What is answered beside the server: for its operators, outside the drain. */
export const OWN_LISTENER_OPTIONS = defineOptions({
  /**
   * Unix socket for those who may log in as the user of the process (permissions 0600): a CPU
   * profile, a heap snapshot, what keeps the process alive, and the state of the life. Closed with
   * the admin listener. One that cannot be bound is an error in the log, and the server serves.
   * @default none
   * @see kubernetes/apiserver pkg/server/options/server_run_options.go DebugSocketPath
   */
  debugSocket: option(socketFile(), {
    flag: 'debug-socket-path',
    defaultWords: 'none',
    meaning: 'Unix socket that serves profiles, a heap snapshot and the state of the life to the user of the process',
    upstream: '--debug-socket-path',
  }),
  /**
   * Second listener for health: outside the drain, closed last.
   * @default none
   */
  admin: option(
    {
      ...fieldsNeeding(ADDRESS_OPTIONS, ['port'], { allowed: '{ port, host? } with a port from 0 to 65535' }),
      fromText: addressOf,
      allowedAsText: ADDRESS_ALLOWED,
      placeholder: 'HOST:PORT',
    },
    {
      flag: 'admin-address',
      defaultWords: 'none',
      meaning: 'Second listener for health, outside the drain, closed last',
      needs: {
        anyOf: ['health'],
        otherwise: 'without effect',
        because: 'it answers metrics and no health',
        at: ['attachLifecycle'],
        isMet: ({ health }) => health !== undefined,
      },
    },
  ),
  /**
   * Page that shows the life as it runs.
   * @default false; true is a free port of 127.0.0.1
   */
  inspector: option(inspector(), {
    flag: 'inspector',
    default: false,
    defaultWords: (off) => `${off}; true is a free port of ${INSPECTOR_OPTIONS.host.default}`,
    meaning: 'Page that shows the life as it runs, on a listener of its own, outside the drain, closed last of all',
  }),
})
