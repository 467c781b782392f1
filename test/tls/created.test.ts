// Fails when: a created server does not speak TLS where it was given certificates, binds some of
// its listeners although one has none that can be used, or says less than the file and the reason.
import { generateKeyPairSync } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { connect } from 'node:tls'
import { describe, expect, test } from 'vitest'
import { newLife } from '../support/life.ts'

const pem = (name: string): string => readFileSync(new URL(`../fixtures/tls/${name}.pem`, import.meta.url), 'utf8')
const OTHER_KEY = String(generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' }))
const PAIR = { cert: pem('cert'), key: pem('key') }

function ask(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', servername: 'localhost', ca: PAIR.cert, ALPNProtocols: ['http/1.1'] })
    let received = ''
    socket.on('data', (chunk) => {
      received += String(chunk)
    })
    socket.once('end', () => resolve(received))
    socket.once('error', reject)
    socket.write('GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n')
  })
}

describe('a listener with tls', () => {
  test('answers over TLS and says so in its address', async () => {
    const rig = newLife({ options: { tls: PAIR } })
    await rig.life.start()
    expect(await ask(rig.port)).toMatch(/^HTTP\/1\.1 200 [\s\S]*hello/)
    expect(rig.life.addresses[0]?.url).toBe(`https://127.0.0.1:${rig.port}`)
  })

  test('serves what it was given there, whatever serverOptions choose', async () => {
    const SNICallback = (_: string, choose: (error: Error) => void): void => choose(new Error('not this one'))
    const rig = newLife({ options: { tls: PAIR, serverOptions: { SNICallback } } })
    await rig.life.start()
    expect(await ask(rig.port)).toContain('hello')
  })

  test('is one of several', async () => {
    const rig = newLife({
      options: {
        listeners: [
          { port: 0, host: '127.0.0.1', tls: PAIR },
          { port: 0, host: '127.0.0.1' },
        ],
      },
    })
    await rig.life.start()
    expect(rig.life.addresses.map(({ url }) => url.split(':')[0])).toEqual(['https', 'http'])
    expect(await ask(rig.port)).toContain('hello')
  })
})

describe('a certificate that cannot be served', () => {
  test.each([
    ['a file that is not there', { certFile: '/nowhere/tls.crt', keyFile: '/nowhere/tls.key' }, '/nowhere/tls.crt: there is no such file'],
    ['a key of another certificate', { cert: PAIR.cert, key: OTHER_KEY }, 'tls.key: is not the key of the certificate in tls.cert'],
  ])('%s ends the start, and nothing is bound', async (_, tls, message) => {
    const rig = newLife({
      options: {
        listeners: [
          { port: 0, host: '127.0.0.1' },
          { port: 0, host: '127.0.0.1', tls },
        ],
      },
    })
    await expect(rig.life.start()).rejects.toMatchObject({ code: 'ERR_START', cause: { code: 'ERR_TLS', message } })
    expect(rig.events.filter(({ type }) => type === 'listening')).toEqual([])
    expect((await rig.life.ended).exitCode).toBe(3)
  })
})
