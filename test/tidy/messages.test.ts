// The list of texts that an operator can see. Fails when: a message of an error, the log, help or a
// template is left out or called something else, or what is no message is in it.
import { expect, test } from 'vitest'
import { messagesOf } from '../../scripts/messages.mjs'

const SOURCE = `
import { x } from 'a module with several words in it'
type Kind = 'this is only a type of text'
// A comment is no message of anything.
throw new QuiesceError('ERR_LISTEN', \`failed to listen on \${where}: \${why}\`, { where }, cause)
log.info({ port }, 'the server is ready now')
const usage = isLong ? 'print every flag of the command' : 'short'
const css = '.page { color: red }'
const sql = \`<svg class="one two three four">\`
log.info({ port }, 'the server is ready now')
`

test('a list of messages has every text of several words, once, with the code of its error', () => {
  expect(messagesOf('src/x.ts', SOURCE)).toEqual([
    'ERR_LISTEN: failed to listen on …: …',
    'the server is ready now',
    'print every flag of the command',
  ])
})
