import { defineOptions, option } from '../kit/define.ts'
import { host, port } from '../kit/kinds.ts'

export const LOOPBACK = '127.0.0.1'

/** A listener's address, where it is not the server's own. */
export const ADDRESS_OPTIONS = defineOptions({
  port: option(port(), { defaultWords: 'none: it has to be given', meaning: 'Port to listen on' }),
  /** @default 127.0.0.1 */
  host: option(host(), { default: LOOPBACK, meaning: 'Address to listen on' }),
})
