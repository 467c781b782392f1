// @ts-check
// The servers of end-server.mjs: quiesce and its peers, with a second copy of one as control.
import { PEERS } from './peers.mjs'

export const PLAIN = 'server.close()'
export const CONTROL = 'server.close(), a second one (A/A)'
export const ATTACHED = 'quiesce, attached'
export const SECOND = 'quiesce, attached, second life'
export const OURS = [ATTACHED, SECOND, 'quiesce, created Hono']
export const SUBJECTS = [...OURS, ...Object.keys(PEERS), CONTROL]
