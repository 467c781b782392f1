import type { CommandFlag } from './arguments.ts'

/** A recording is for whoever sits at this machine. */
export const INSPECT_HOST = '127.0.0.1'
const PORT_MAX = 65_535

export const INSPECT_FLAGS: readonly CommandFlag[] = [
  {
    name: 'port',
    kind: 'text',
    allowed: 'an integer from 0 to 65535; 0 is any free port',
    default: '0',
    meaning: `Port of ${INSPECT_HOST} that the page is served on`,
    accepts: (value) => /^\d{1,5}$/.test(value) && Number(value) <= PORT_MAX,
  },
  {
    name: 'no-open',
    kind: 'switch',
    allowed: '',
    default: 'off',
    meaning: 'Print the URL, but open no browser; off a terminal none is opened',
  },
]
