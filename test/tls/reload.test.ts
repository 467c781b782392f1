// Fails when: a certificate that was replaced on disk, however that is done, is not served within
// seconds, costs a connection, or is read after the end; a bad one takes the place of a good one,
// or is not said once.
import { createHook } from 'node:async_hooks'
import { X509Certificate } from 'node:crypto'
import { mkdirSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs'
import { Agent, get } from 'node:https'
import { join } from 'node:path'
import { connect, type TLSSocket } from 'node:tls'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { type Clock, systemClock } from '#src/base/clock.ts'
import type { TlsOptions } from '#src/options/rows/tls.ts'
import { type PemPair, pairFor } from '../support/certificates.ts'
import { type LifeRig, newLife } from '../support/life.ts'
import { temporaryFolder } from '../support/process.ts'
import { row } from '../support/row.ts'

const [A, B] = [pairFor({ names: ['a.test'] }), pairFor({ names: ['b.test'] })] as [PemPair, PemPair]
const fingerprint = ({ cert }: PemPair): string => new X509Certificate(cert).fingerprint256
const NAMES = new Map([
  [fingerprint(A), 'A'],
  [fingerprint(B), 'B'],
])

interface Files extends TlsOptions {
  readonly certFile: string
  readonly keyFile: string
}

function filesIn(folder: string, pair: PemPair): Files {
  const files = { certFile: join(folder, 'tls.crt'), keyFile: join(folder, 'tls.key') }
  write(files, pair)
  return files
}

function write({ certFile, keyFile }: Files, { cert, key }: PemPair): void {
  writeFileSync(certFile, cert)
  writeFileSync(keyFile, key)
}

function shake(port: number): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false })
    socket.once('error', reject)
    socket.once('secureConnect', () => resolve(socket))
  })
}

async function served(port: number): Promise<string> {
  const socket = await shake(port)
  const { fingerprint256 } = socket.getPeerCertificate()
  socket.destroy()
  return NAMES.get(fingerprint256) ?? 'another'
}

const WAIT = { timeout: 10_000, interval: 20 }

/** On a keep-alive connection of its own. */
function keepAlive(port: number) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1, rejectUnauthorized: false })
  const ask = (): Promise<string> =>
    new Promise((resolve, reject) => {
      get({ port, host: '127.0.0.1', agent }, (response) => {
        const { localPort } = response.socket
        response.resume().once('end', () => resolve(`${response.statusCode} from ${localPort}`))
      }).once('error', reject)
    })
  return { ask, [Symbol.dispose]: () => agent.destroy() }
}

async function started(tls: TlsOptions): Promise<LifeRig<never>> {
  const rig = newLife({ options: { tls } })
  await rig.life.start()
  return rig as LifeRig<never>
}

const loaded = (rig: LifeRig<never>): number => rig.events.filter(({ type }) => type === 'certificate').length
const failures = (rig: LifeRig<never>): string[] =>
  rig.events.flatMap((event) => (event.type === 'error' && event.where === 'certificates' ? [event.error.message] : []))

describe('a pair that is replaced on disk is served, and connections go on', () => {
  row('DC-05', 'written over', async () => {
    const files = filesIn(temporaryFolder(), A)
    const rig = await started(files)
    using client = keepAlive(rig.port)
    const before = await client.ask()
    expect(await served(rig.port)).toBe('A')
    write(files, B)
    await vi.waitFor(async () => expect(await served(rig.port)).toBe('B'), WAIT)
    expect(await client.ask()).toBe(before)
    expect(rig.logged('info')).toContain('Loaded a new cert/key pair')
    expect(loaded(rig)).toBe(1)
    expect(failures(rig)).toEqual([])
  })

  row('DC-08', 'renamed into place', async () => {
    const folder = temporaryFolder()
    const files = filesIn(folder, A)
    const rig = await started(files)
    for (const pair of [B, A]) {
      for (const [name, text] of [
        ['tls.crt', pair.cert],
        ['tls.key', pair.key],
      ] as const) {
        writeFileSync(join(folder, `${name}.new`), text)
        renameSync(join(folder, `${name}.new`), join(folder, name))
      }
      await vi.waitFor(async () => expect(await served(rig.port)).toBe(NAMES.get(fingerprint(pair))), WAIT)
    }
  })

  row('DC-08', 'by the symlink that Kubernetes swaps', async () => {
    const folder = temporaryFolder()
    const put = (version: string, pair: PemPair): void => {
      mkdirSync(join(folder, version))
      filesIn(join(folder, version), pair)
      symlinkSync(version, join(folder, '..data_tmp'))
      renameSync(join(folder, '..data_tmp'), join(folder, '..data'))
    }
    put('..v1', A)
    for (const name of ['tls.crt', 'tls.key']) symlinkSync(join('..data', name), join(folder, name))
    const rig = await started({ certFile: join(folder, 'tls.crt'), keyFile: join(folder, 'tls.key') })
    for (const [index, pair] of [B, A, B].entries()) {
      put(`..v${index + 2}`, pair)
      rmSync(join(folder, `..v${index + 1}`), { recursive: true })
      await vi.waitFor(async () => expect(await served(rig.port)).toBe(NAMES.get(fingerprint(pair))), WAIT)
    }
    expect(failures(rig)).toEqual([])
  })
})

describe('what cannot be served leaves what is served', () => {
  row('DC-06', 'a key without its certificate, until that is there too', async () => {
    const files = filesIn(temporaryFolder(), A)
    const rig = await started(files)
    writeFileSync(files.keyFile, B.key)
    await vi.waitFor(
      () => expect(failures(rig)).toEqual([`${files.keyFile}: is not the key of the certificate in ${files.certFile}`]),
      WAIT,
    )
    expect(await served(rig.port)).toBe('A')
    writeFileSync(files.certFile, B.cert)
    await vi.waitFor(async () => expect(await served(rig.port)).toBe('B'), WAIT)
  })

  row('DC-07', 'a file that is emptied, half written or removed, and each is said once', async () => {
    const files = filesIn(temporaryFolder(), A)
    const rig = await started(files)
    writeFileSync(files.certFile, '')
    await vi.waitFor(() => expect(failures(rig)).toEqual([`${files.certFile}: is empty`]), WAIT)
    writeFileSync(files.certFile, B.cert.slice(0, 100))
    await vi.waitFor(() => expect(failures(rig)[1]).toBe(`${files.certFile}: holds no certificate, but the beginning of one`), WAIT)
    unlinkSync(files.certFile)
    await vi.waitFor(() => expect(failures(rig)[2]).toBe(`${files.certFile}: there is no such file`), WAIT)
    expect(await served(rig.port)).toBe('A')
    write(files, B)
    await vi.waitFor(async () => expect(await served(rig.port)).toBe('B'), WAIT)
    expect(failures(rig)).toHaveLength(3)
  })
})

row('DC-11', 'the same bytes written again change nothing', async () => {
  const files = filesIn(temporaryFolder(), A)
  const other = filesIn(temporaryFolder(), A)
  const rig = await started({ ...files, sni: [{ ...other, names: ['other.test'] }] })
  write(files, A)
  // What is written later is served: by then the first was read.
  write(other, B)
  await vi.waitFor(() => expect(loaded(rig)).toBe(1), WAIT)
  expect(rig.events.find(({ type }) => type === 'certificate')).toMatchObject({ from: other.certFile })
})

row('DC-12', 'nothing is watched, read or planned after the listener has closed', async () => {
  const watching = new Set<number>()
  const hook = createHook({
    init: (id, type) => void (type === 'FSEVENTWRAP' && watching.add(id)),
    destroy: (id) => void watching.delete(id),
  }).enable()
  onTestFinished(() => void hook.disable())
  const planned = new Set<unknown>()
  const clock: Clock = {
    ...systemClock,
    setTimeout: (fn, ms) => {
      const timer = systemClock.setTimeout(() => {
        planned.delete(timer)
        fn()
      }, ms)
      planned.add(timer)
      return timer
    },
    clearTimeout: (timer) => {
      planned.delete(timer)
      systemClock.clearTimeout(timer)
    },
  }
  const files = filesIn(temporaryFolder(), A)
  const rig = newLife({ clock, options: { tls: files } })
  await rig.life.start()
  await vi.waitFor(() => expect(watching.size).toBe(1), WAIT)
  // When the files were read for the first time.
  await vi.waitFor(() => expect(planned.size).toBeGreaterThan(0), WAIT)
  await rig.end()
  expect(planned.size).toBe(0)
  await vi.waitFor(() => expect(watching.size).toBe(0), WAIT)
})

row('DC-04', 'without a certificate that was ever loaded handshakes fail, and readiness, until there is one', async () => {
  const folder = temporaryFolder()
  const files = { certFile: join(folder, 'tls.crt'), keyFile: join(folder, 'tls.key') }
  const rig = await started({ ...files, waitForFiles: true })
  await expect(shake(rig.port)).rejects.toThrow()
  expect(rig.life.status.readiness()?.checks.map(({ name }) => name)).toContain('certificates')
  await vi.waitFor(() => expect(failures(rig)).toEqual([`${files.certFile}: there is no such file`]), WAIT)
  write(files, A)
  await vi.waitFor(async () => expect(await served(rig.port)).toBe('A'), WAIT)
})

test('a start without a file that is waited for fails', async () => {
  const certFile = join(temporaryFolder(), 'tls.crt')
  await expect(started({ certFile, keyFile: certFile })).rejects.toMatchObject({
    cause: { code: 'ERR_TLS', message: `${certFile}: there is no such file` },
  })
})
