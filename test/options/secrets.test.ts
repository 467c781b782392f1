// Secrets that are refused. Fails when: what is wrong with a token, a passphrase or a key is said
// with the value, in a message or in what an error carries along, wherever it was given.
import { describe, expect, test } from 'vitest'
import { completeConfig } from '#apiserver/config.ts'
import { readRunSettings, readSettings } from '#src/cli/flags.ts'
import { createServer } from '#src/create-server.ts'
import type { ServerOptions } from '#src/options/options.ts'

const SECRET = 'S3cret!token!with!what!is!not!allowed'
const facts = { env: {}, pid: 4711, terminal: false, containerFile: false }
const WORDS = `a text of ${SECRET.length} characters`

interface Said {
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly config?: unknown
}
const sources = ({ args = [], env = {}, config = {} }: Said) => ({ args, env, facts, readConfig: () => Promise.resolve(config) })

async function problemsOf(said: Said): Promise<readonly string[]> {
  const settings = await readSettings(sources(said))
  return 'problems' in settings ? settings.problems : []
}

describe('at the command line', () => {
  test.each<[string, Said]>([
    ['--inspector-token', { args: ['--inspector', `--inspector-token=${SECRET}`] }],
    ['QUIESCE_INSPECTOR_TOKEN', { args: ['--inspector'], env: { QUIESCE_INSPECTOR_TOKEN: SECRET } }],
    ['inspector-token in c.json', { args: ['--config=c.json'], config: { inspector: true, 'inspector-token': SECRET } }],
  ])('a token that is refused is not shown: %s', async (label, said) => {
    expect(await problemsOf(said)).toEqual([`${label}: got ${WORDS}, allowed: at least 16 letters, digits and -._~+/=`])
  })

  test.each([
    [{ secret: SECRET }, 'an object'],
    [[SECRET], 'a list'],
    [12_345_678, 'a number'],
    ['', 'an empty text'],
  ])('a passphrase that is no text is not shown: %j', async (passphrase, words) => {
    const config = { 'tls-self-signed': true, 'tls-private-key-passphrase': passphrase }
    expect(await problemsOf({ args: ['--config=c.json'], config })).toEqual([
      `tls-private-key-passphrase in c.json: got ${words}, allowed: a text`,
    ])
  })

  test('the settings of a server know which of them are secrets', async () => {
    const settings = await readRunSettings(sources({ args: ['app.mjs', '--inspector', `--inspector-token=${'a'.repeat(16)}`, '--port=0'] }))
    expect(settings).toMatchObject({
      serverSettings: [{ label: '--inspector' }, { label: '--inspector-token', isSecret: true }, { label: '--port', isSecret: false }],
    })
  })
})

function refusal(make: () => unknown): { readonly message: string; readonly details: unknown } {
  try {
    make()
  } catch (thrown) {
    return thrown as { readonly message: string; readonly details: unknown }
  }
  throw new Error('it was taken')
}

describe('in code', () => {
  test.each<[string, string, object]>([
    ['inspector.token', WORDS, { inspector: { token: SECRET } }],
    ['tls.key', WORDS, { tls: { cert: '-----BEGIN CERTIFICATE', key: SECRET } }],
    ['tls.key', 'a text of 48 characters', { tls: { key: `-----BEGIN ${SECRET}`, keyFile: 'x.key' } }],
    ['tls.passphrase', 'a list', { tls: { selfSigned: true, passphrase: [SECRET] } }],
    ['tls.sni[0].passphrase', 'an object', { tls: { sni: [{ certFile: 'a', keyFile: 'b', passphrase: { text: SECRET } }] } }],
    ['tls.sni[0]', '{"passphrase":"a text of 37 characters"}', { tls: { sni: [{ passphrase: SECRET }] } }],
    ['tls', '"a text of another kind"', { tls: 'a text of another kind' }],
  ])('%s: got %s', (field, words, options) => {
    const { message, details } = refusal(() => createServer(() => new Response(''), { logger: false, ...options } as ServerOptions))
    expect(message).toContain(`${field}: got ${words}, allowed: `)
    expect(details).toMatchObject({ field, given: expect.anything() })
    expect(JSON.stringify({ message, details })).not.toContain(SECRET)
  })

  test('also not where its name is misspelt', () => {
    const { message, details } = refusal(() =>
      createServer(() => new Response(''), { inspector: { tokn: SECRET } } as unknown as ServerOptions),
    )
    expect(message).toContain('inspector.tokn: unknown (did you mean "token"?)')
    expect(JSON.stringify({ message, details })).not.toContain(SECRET)
  })

  test.each(['token', 'headers'])('the %s of a webhook', (name) => {
    const webhook = { url: 'https://audit.example', [name]: name === 'token' ? [SECRET] : { Authorization: SECRET, Depth: 5 } }
    const { message, details } = refusal(() => completeConfig({ auditWebhook: webhook, auditPolicyFile: 'p.yaml' } as object))
    expect(message).toContain(`auditWebhook.${name}: got ${name === 'token' ? 'a list' : 'an object'}, allowed: `)
    expect(JSON.stringify({ message, details })).not.toContain(SECRET)
  })
})
