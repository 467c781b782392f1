import { type CommandPage, EXIT_CODES_OF_A_LIFE } from './engine-command.ts'
import { API_SERVER_FLAGS, API_SERVER_GROUPS } from './flags.ts'

/** What help says. */
export const PAGE: CommandPage = {
  summary: 'serve a generic API server until it is stopped',
  operands: '[APP]',
  examples: [
    ['quiesce-apiserver --secure-port 6443', 'serve health, /version, /metrics and the index by HTTPS'],
    ['quiesce-apiserver servers.mjs --audit-policy-file policy.yaml --audit-log-path -', 'serve your API servers, and audit them'],
    ['quiesce-apiserver storage verify shop.db', 'check a file of stored objects; others: compact, export, import'],
    ['quiesce-apiserver --config apiserver.yaml --print-config', 'check a config file, and print all settings'],
  ],
  about: `\
Serves a generic API server until SIGTERM or SIGINT: its filters, health and metrics, with the flags of
upstream's. Without a certificate it makes one that signs itself. APP, which may be left out, is a module
  that exports a function apiServer(config), which returns what createApiServer() of @quiesce/apiserver made
  of that config, with its delegates
  or whose default export is an app, a handler or a server as quiesce run takes it: it answers every path
  behind the filters but those of health, /version and /metrics`,
  flags: API_SERVER_FLAGS,
  groups: API_SERVER_GROUPS,
  hasSettings: true,
  exitCodes: EXIT_CODES_OF_A_LIFE,
}
