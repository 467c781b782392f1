import type { Host } from '../actors/host.ts'
import { createServerOn, type Handler, type ServerParts } from '../create-server.ts'
import type { DefaultLog } from '../lifecycle/output.ts'
import type { ServedLife } from '../lifecycle/served-life.ts'
import type { ServerOptions } from '../options/options.ts'

/** A created server, for one that is built on it: its type names no class. */
export const createServedLife: (host: Host, handler: Handler, options: ServerOptions, log?: DefaultLog, parts?: ServerParts) => ServedLife =
  createServerOn
