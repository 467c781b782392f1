/**
 * The engine, for programs of the command line: how a command that serves reads its settings, helps
 * and loads a module of the user's. Its stability is that of `quiesce/engine`.
 */

// A module of the user's, and what it exports.
export { API_SERVER_EXPORT, apiServerOf, makesApiServer } from '../cli/api-server-module.ts'
// Settings from flags, the environment and a file.
export type { AbsentFlags, Settings } from '../cli/arguments.ts'
// The world of a command, and how it ends.
export { type CommandHost, inLongWords, printed, refused, sourcesOf, usable } from '../cli/command-host.ts'
// What help is made of.
export { type CommandPage, EXIT_CODES_OF_A_LIFE } from '../cli/command-page.ts'
export type { FlagGroups } from '../cli/flag-groups.ts'
export { COMMAND_OPTIONS, EXPORT_OPTIONS, LOG_OPTIONS } from '../cli/flags.ts'
export { loadApp, runnableFrom } from '../cli/load-app.ts'
export { pageHelp } from '../cli/page-help.ts'
export { printedConfig } from '../cli/printed-config.ts'
export type { Runnable } from '../cli/runnable.ts'
export { flagsOfCommand, readAll, type Serving, type SettingsProblems, type SettingsSources } from '../cli/serving.ts'
export { messagesOf } from '../cli/settings.ts'
export type { Exports } from '../cli/user-module.ts'
export type { ExitCode } from '../machines/exit-codes.ts'
export type { Flag } from '../options/kit/flags.ts'
