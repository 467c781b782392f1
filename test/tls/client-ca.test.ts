// Fails when: a client without a certificate of the CA is let in where that is required, or turned
// away where the application decides; a CA that was replaced is not asked for.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect, type DetailedPeerCertificate, type TLSSocket } from 'node:tls'
import { describe, expect, test, vi } from 'vitest'
import type { TlsOptions } from '#src/options/rows/tls.ts'
import { clientOf, type PemPair, pairFor } from '../support/certificates.ts'
import { newLife } from '../support/life.ts'
import { temporaryFolder } from '../support/process.ts'

const PAIR = pairFor({ names: ['localhost'] })
const [CA, OTHER_CA] = [pairFor({ commonName: 'CA' }), pairFor({ commonName: 'other CA' })] as [PemPair, PemPair]
const [ALICE, MALLORY] = [clientOf(CA, 'alice'), clientOf(OTHER_CA, 'mallory')] as [PemPair, PemPair]

/** Says who the application takes its client for. */
async function server(tls: TlsOptions) {
  const rig = newLife({
    options: { tls: { ...PAIR, sni: [{ ...pairFor({ names: ['sni.test'] }) }], ...tls } },
    listener: ({ socket }, response) => {
      const { authorized } = socket as TLSSocket
      const { subject } = (socket as TLSSocket).getPeerCertificate()
      response.setHeader('Connection', 'close')
      response.end(`${subject?.CN ?? 'a stranger'}, ${authorized ? 'known' : 'unknown'}`)
    },
  })
  await rig.life.start()
  return rig
}

/** The answer, or how it failed. */
function ask(port: number, client: Partial<PemPair> = {}, servername?: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { port, host: '127.0.0.1', rejectUnauthorized: false, ...client, ...(servername !== undefined && { servername }) }
    const socket = connect(options, () => void socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'))
    let received = ''
    socket.on('data', (chunk) => {
      received += String(chunk)
    })
    socket.once('end', () =>
      received === '' ? reject(new Error('no answer')) : resolve(/(?:\w+|a stranger), (?:un)?known/.exec(received)?.[0] ?? received),
    )
    socket.once('error', reject)
  })
}

/** The names in the chain that a server sends. */
function sentBy(port: number, servername?: string): Promise<readonly string[]> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ...(servername !== undefined && { servername }) }, () => {
      const names: string[] = []
      let one: DetailedPeerCertificate | undefined = socket.getPeerCertificate(true)
      for (; one !== undefined && names.at(-1) !== one.subject.CN; one = one.issuerCertificate) names.push(String(one.subject.CN))
      socket.destroy()
      resolve(names)
    })
    socket.once('error', reject)
  })
}

describe('with a client CA', () => {
  test.each([undefined, 'sni.test'])('the handshake refuses who has no certificate of it, asked for %s', async (name) => {
    const { port } = await server({ clientCa: CA.cert })
    expect(await ask(port, ALICE, name)).toBe('alice, known')
    await expect(ask(port, {}, name)).rejects.toThrow()
    await expect(ask(port, MALLORY, name)).rejects.toThrow()
  })

  test.each([undefined, 'sni.test'])('a certificate in it that is no root is trusted, asked for %s', async (name) => {
    const { port } = await server({ clientCa: `${pairFor({ commonName: 'a root' }).cert}${ALICE.cert}` })
    expect(await ask(port, ALICE, name)).toBe('alice, known')
    await expect(ask(port, clientOf(CA, 'bob'), name)).rejects.toThrow()
    await expect(ask(port, MALLORY, name)).rejects.toThrow()
  })

  test.each([undefined, 'localhost'])('a chain is completed from it, all the way where its root is there, asked for %s', async (name) => {
    const upper = clientOf(CA, 'upper')
    const below = clientOf(upper, 'below')
    const { port } = await server({
      ...clientOf(below, 'localhost'),
      sni: [],
      clientCa: below.cert + upper.cert + CA.cert,
      clientCertificates: 'request',
    })
    expect(await sentBy(port, name)).toEqual(['localhost', 'below', 'upper', 'CA'])
  })

  test.each([undefined, 'localhost'])('all of this holds for the only certificate of a server, asked for %s', async (name) => {
    const clientCaFile = join(temporaryFolder(), 'ca.crt')
    writeFileSync(clientCaFile, CA.cert)
    const { port } = await server({ clientCaFile, sni: [] })
    expect(await ask(port, ALICE, name)).toBe('alice, known')
    await expect(ask(port, {}, name)).rejects.toThrow()
    await expect(ask(port, MALLORY, name)).rejects.toThrow()
    // No root is there.
    writeFileSync(clientCaFile, MALLORY.cert)
    await vi.waitFor(async () => expect(await ask(port, MALLORY, name)).toBe('mallory, known'), { timeout: 10_000 })
    await expect(ask(port, ALICE, name)).rejects.toThrow()
    await expect(ask(port, clientOf(OTHER_CA, 'eve'), name)).rejects.toThrow()
  })

  test('the application decides, where it is to', async () => {
    const { port } = await server({ clientCa: CA.cert, clientCertificates: 'request' })
    expect(await ask(port, ALICE)).toBe('alice, known')
    expect(await ask(port)).toBe('a stranger, unknown')
    expect(await ask(port, MALLORY)).toBe('mallory, unknown')
  })

  test('a new one is asked for as soon as its file has it, and no emptied one', async () => {
    const clientCaFile = join(temporaryFolder(), 'ca.crt')
    writeFileSync(clientCaFile, CA.cert)
    const { port, ...rig } = await server({ clientCaFile })
    writeFileSync(clientCaFile, OTHER_CA.cert)
    await vi.waitFor(async () => expect(await ask(port, MALLORY)).toBe('mallory, known'), { timeout: 10_000 })
    await expect(ask(port, ALICE)).rejects.toThrow()
    expect(rig.events).toContainEqual(expect.objectContaining({ type: 'certificate', what: 'client CA', from: clientCaFile }))
    writeFileSync(clientCaFile, '')
    await vi.waitFor(() => expect(rig.events).toContainEqual(expect.objectContaining({ type: 'error', where: 'certificates' })), {
      timeout: 10_000,
    })
    await expect(ask(port, ALICE)).rejects.toThrow()
    expect(await ask(port, MALLORY)).toBe('mallory, known')
  })
})

test('without one clients are asked for no certificate', async () => {
  const { port } = await server({})
  expect(await ask(port, ALICE)).toBe('a stranger, unknown')
})
