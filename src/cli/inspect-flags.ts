import { defineOptions, option } from '../options/kit/define.ts'
import { integer, port, present } from '../options/kit/kinds.ts'

/** A recording is for the user of this machine. */
export const INSPECT_HOST = '127.0.0.1'

export const INSPECT_OPTIONS = defineOptions({
  port: option(integer(0, 65_535, port().allowed), {
    flag: 'port',
    default: 0,
    meaning: `Port on ${INSPECT_HOST} for the page`,
  }),
  noOpen: option(present(), {
    flag: 'no-open',
    default: false,
    meaning: 'Print the URL and open no browser. Without a terminal none is opened anyway',
  }),
})
