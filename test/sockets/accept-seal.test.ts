// Fails when: a connection comes in between the last look at the accept queue and the close, and is
// reset; our own connection is taken for a client's; or a socket that others go on listening on is
// touched.
import { once } from 'node:events'
import { closeSync, openSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { connect, createServer, type ListenOptions, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { AcceptSeal } from '#src/actors/accept-seal.ts'
import { systemClock } from '#src/base/clock.ts'
import { VirtualClock } from '#src/base/virtual-clock.ts'
import { type Attempt, emptyAcceptQueue, type QueueSeal } from '#src/http/traffic/accept-queue.ts'
import { turns, UNBOUNDED } from './rig.ts'

interface Rig {
  readonly server: Server
  readonly port: number
  /** What the server has accepted. */
  readonly accepted: Socket[]
  /**
   * Asks for a connection in this step of the loop: on the loopback the kernel has made it, or
   * dropped it, when the next tick is over.
   */
  readonly client: () => { socket: Socket; events: string[] }
}

async function listening(where: ListenOptions): Promise<Rig> {
  const accepted: Socket[] = []
  const server = createServer((socket) => accepted.push(socket.on('error', () => undefined)))
  server.listen(where)
  await once(server, 'listening')
  const address = server.address()
  const { port, family } = typeof address === 'object' && address ? address : { port: 0, family: 'IPv4' }
  onTestFinished(() => {
    if (server.listening) server.close()
    for (const socket of accepted) socket.destroy()
  })
  const client: Rig['client'] = () => {
    const events: string[] = []
    const socket = connect({ port, host: family === 'IPv6' ? '::1' : '127.0.0.1' })
    socket.on('connect', () => events.push('connect')).on('error', (error: NodeJS.ErrnoException) => events.push(error.code ?? ''))
    onTestFinished(() => void socket.destroy())
    return { socket, events }
  }
  return { server, port, accepted, client }
}

const sealOf = (...servers: Server[]): AcceptSeal => {
  const seal = AcceptSeal.of(servers)
  if (!seal) throw new Error('no seal')
  onTestFinished(() => seal[Symbol.dispose]())
  return seal
}

const ticks = (): Promise<void> => new Promise((resolve) => process.nextTick(resolve))
/**
 * The kernel handles the loopback's packets elsewhere when it is busy: then our own connection is
 * late, and another attempt has to be made.
 */
async function sealed(seal: AcceptSeal): Promise<void> {
  while ((await seal.attempt(false)) !== 'sealed') await turns(3)
}

async function refusesLate({ server, accepted, client }: Rig, seal: AcceptSeal): Promise<void> {
  await sealed(seal)
  const late = client()
  // Connected now, were it not for the seal: nothing polls until the close.
  await ticks()
  server.close()
  seal[Symbol.dispose]()
  await new Promise((resolve) => late.socket.once('close', resolve))
  expect(late.events).toEqual(['ECONNREFUSED'])
  expect(accepted).toEqual([])
}

const linux = test.runIf(process.platform === 'linux')

linux('who asks between the seal and the close is refused, not reset', async () => {
  const address = await listening({ port: 0, host: '127.0.0.1' })
  const allOfIPv4 = await listening({ port: 0, host: '0.0.0.0' })
  const all = await listening({ port: 0 })
  // Which cannot be sealed.
  const unixSocket = await listening({ path: pathOf('beside') })
  const besideIt = await listening({ port: 0, host: '127.0.0.1' })
  // At once: each client asks again after a second.
  await Promise.all([
    ...[address, allOfIPv4, all].map((rig) => refusesLate(rig, sealOf(rig.server))),
    refusesLate(besideIt, sealOf(unixSocket.server, besideIt.server)),
  ])
})

linux('who is in the queue already is accepted before the close, and our own connection is not', async () => {
  const { server, accepted, client } = await listening({ port: 0, host: '127.0.0.1' })
  const seal = sealOf(server)
  const first = client()
  expect(await seal.attempt(false)).toBe('others')
  while (accepted.length === 0) await turns(1)
  await turns(5)
  expect(accepted.map(({ remotePort }) => remotePort)).toEqual([first.socket.localPort])
  await sealed(seal)
  server.close()
  seal[Symbol.dispose]()
  await turns(5)
  expect(accepted).toHaveLength(1)
  expect(first.events).toEqual(['connect'])
})

linux('given up, a seal leaves the listener as it was', async () => {
  const { server, accepted, client } = await listening({ port: 0, host: '127.0.0.1' })
  const handle = (server as unknown as { _handle: object })._handle
  const before = Object.entries(Object.getOwnPropertyDescriptors(handle))
  const seal = sealOf(server)
  client()
  expect(await seal.attempt(false)).toBe('others')
  seal[Symbol.dispose]()
  expect(Object.entries(Object.getOwnPropertyDescriptors(handle))).toEqual(before)
  const more = [client(), client(), client()]
  await Promise.all(more.map(({ socket }) => once(socket, 'connect')))
  while (accepted.length < 4) await turns(1)
})

linux('two listeners are sealed in one step, or neither', async () => {
  const [one, other] = [await listening({ port: 0, host: '127.0.0.1' }), await listening({ port: 0, host: '127.0.0.1' })]
  const seal = sealOf(one.server, other.server)
  one.client()
  expect(await seal.attempt(false)).toBe('others')
  await turns(5)
  await sealed(seal)
})

linux('a queue that is shut lets no more in while something is in it', async () => {
  const { server, accepted, client } = await listening({ port: 0, host: '127.0.0.1' })
  const seal = sealOf(server)
  const first = client()
  await ticks()
  seal.shut()
  const second = client()
  await ticks()
  while (accepted.length === 0) await turns(1)
  expect(first.events).toEqual(['connect'])
  expect(second.events).toEqual([])
})

const pathOf = (name: string): string => {
  const file = `quiesce-${name}-${process.pid}`
  return process.platform === 'win32' ? String.raw`\\.\pipe\${file}` : join(tmpdir(), `${file}.sock`)
}

test('what cannot be sealed has no seal', async () => {
  expect(AcceptSeal.of([])).toBeUndefined()
  expect(AcceptSeal.of([createServer()])).toBeUndefined()
  const path = pathOf('seal')
  expect(AcceptSeal.of([(await listening({ path })).server])).toBeUndefined()
})

linux('a socket that was handed to this process is left alone', async () => {
  const { server } = await listening({ port: 0, host: '127.0.0.1' })
  const adopted = createServer()
  adopted.listen((server as unknown as { _handle: object })._handle)
  await once(adopted, 'listening')
  expect(AcceptSeal.of([adopted])).toBeUndefined()
})

linux('the queue of a socket that outlives its close has its length again', async () => {
  const { server } = await listening({ port: 0, host: '127.0.0.1' })
  const { _handle: handle } = server as unknown as { _handle: { listen: (backlog: number) => number } }
  const lengths: number[] = []
  const { listen } = handle
  handle.listen = (length) => {
    lengths.push(length)
    return listen.call(handle, length)
  }
  await sealed(sealOf(server))
  server.close()
  expect(lengths.slice(-2)).toEqual([0, 511])
})

linux('when our own connection never comes in, attempts come to an end', async () => {
  const { server, client } = await listening({ port: 0, host: '127.0.0.1' })
  const seal = sealOf(server)
  const { _handle: handle } = server as unknown as { _handle: { listen: (backlog: number) => number } }
  const { listen } = handle
  handle.listen = () => listen.call(handle, 0)
  handle.listen(0)
  client()
  // There is one place, and it is taken: nothing polls here, so nothing is accepted.
  await ticks()
  let attempts = 1
  while ((await seal.attempt(false)) !== 'sealed') attempts++
  expect(attempts).toBe(5)
})

/**
 * The states of the connections to and from this port, those apart that only wait to be forgotten.
 */
function connectionsOf(port: number): string[] {
  const hex = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  const rows = readFileSync('/proc/self/net/tcp', 'latin1')
    .split('\n')
    .map((row) => row.trim().split(/\s+/))
  return rows.flatMap(([, own = '', peer = '', state = '']) =>
    (own.endsWith(hex) || peer.endsWith(hex)) && !['0A', '06'].includes(state) ? [state] : [],
  )
}

linux.each([
  ['of an attempt that was in vain', 'others'],
  ['of a seal that was given up', 'sealed'],
])('our own connection is closed at both ends: that %s', async (_, found) => {
  const { server, port, accepted, client } = await listening({ port: 0, host: '127.0.0.1' })
  const seal = sealOf(server)
  if (found === 'others') {
    const { socket } = client()
    expect(await seal.attempt(false)).toBe('others')
    while (accepted.length === 0) await turns(1)
    for (const one of [socket, ...accepted]) one.destroy()
  } else {
    await sealed(seal)
    seal[Symbol.dispose]()
  }
  await expect.poll(() => connectionsOf(port)).toEqual([])
})

linux('a queue that was shut has room for our own connection, so that it is not taken for an empty one, and for no other', async () => {
  const { server, accepted, client } = await listening({ port: 0, host: '127.0.0.1' })
  const seal = sealOf(server)
  client()
  await ticks()
  seal.shut()
  // Nothing is accepted here, because nothing polls.
  for (let attempts = 0; attempts < 6; attempts++) expect(await seal.attempt(false)).toBe('others')
  const late = client()
  await ticks()
  while (accepted.length === 0) await turns(1)
  expect(late.events).toEqual([])
})

linux('whoever waits in one of many queues is seen, wherever the kernel names it', async () => {
  const rigs = await Promise.all(Array.from({ length: 8 }, () => listening({ port: 0, host: '127.0.0.1' })))
  for (const { server, client } of rigs) {
    const seal = sealOf(server)
    client()
    await ticks()
    for (let attempts = 0; attempts < 6; attempts++) expect(await seal.attempt(false)).toBe('others')
    seal[Symbol.dispose]()
  }
})

/** As often as it takes, without a poll in between. */
async function attemptsUntilSealed(seal: AcceptSeal): Promise<number> {
  let attempts = 1
  while ((await seal.attempt(false)) !== 'sealed') attempts++
  return attempts
}

linux('where the kernel says nothing of the queue, attempts come to an end, and leave no file open', async () => {
  const { server } = await listening({ port: 0, host: '127.0.0.1' })
  const { _handle: handle } = server as unknown as { _handle: object }
  // A file is no socket that the kernel would name.
  const file = openSync('/dev/null', 'r')
  onTestFinished(() => closeSync(file))
  Object.defineProperty(handle, 'fd', { value: file, configurable: true })
  const seal = sealOf(server)
  delete (handle as { fd?: number }).fd
  const tables = () => readdirSync('/proc/self/fd').flatMap((fd) => linkOf(fd).match(/\/net\/.*/) ?? [])
  expect(await attemptsUntilSealed(seal)).toBe(5)
  expect(tables()).toEqual([])
})

/** What a descriptor is of, unless it is closed already. */
function linkOf(fd: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`)
  } catch {
    return ''
  }
}

linux('where no connection can be made, attempts come to an end', async () => {
  // A broadcast address can be bound, and connected to by nobody.
  const { server } = await listening({ port: 0, host: '127.255.255.255' })
  expect(await attemptsUntilSealed(sealOf(server))).toBe(5)
})

test.each([
  ['none', null],
  ['one without a descriptor', { listen() {}, onconnection() {}, close() {} }],
  ['one that is closed', { listen() {}, onconnection() {}, close() {}, fd: -1 }],
  ['one that works otherwise', { listen() {}, close() {}, fd: 0 }],
])('a server whose handle is not as it was known has no seal: %s', (_, handle) => {
  const server = Object.assign(createServer(), {
    _handle: handle,
    _connectionKey: '4:127.0.0.1:80',
    address: () => ({ address: '127.0.0.1', family: 'IPv4', port: 80 }),
  })
  expect(AcceptSeal.of([server])).toBeUndefined()
})

test('a queue that does not run empty is shut, once', async () => {
  let connections = 0
  let shut = 0
  const seal: QueueSeal = { attempt: () => Promise.resolve('sealed'), shut: () => void shut++ }
  await emptyAcceptQueue({
    clock: systemClock,
    // Each turn brings one until it is shut.
    accepted: () => (shut === 0 ? ++connections : connections),
    close: () => undefined,
    seal,
    goOn: () => undefined,
    ...UNBOUNDED,
  })
  expect(shut).toBe(1)
})

test('the listener closes when it is sealed, and not before', async () => {
  const order: string[] = []
  const answers: Attempt[] = ['others', 'others', 'sealed']
  await emptyAcceptQueue({
    clock: systemClock,
    accepted: () => 0,
    close: () => void order.push('closed'),
    seal: {
      attempt: () => {
        const answer = answers.shift() ?? 'sealed'
        order.push(answer)
        return Promise.resolve(answer)
      },
      shut: () => undefined,
    },
    goOn: () => undefined,
    ...UNBOUNDED,
  })
  expect(order).toEqual(['others', 'others', 'sealed', 'closed'])
})

/** Asks for a connection of a socket whose queue has no place; what the kernel drops is counted. */
async function dropOne({ server, client }: Rig): Promise<void> {
  const { _handle: handle } = server as unknown as { _handle: { listen: (backlog: number) => number } }
  handle.listen(0)
  client()
  client()
  await ticks()
  handle.listen(511)
}

linux('a queue that has dropped something is reopened, if there is time, and sealed the next time', async () => {
  const rig = await listening({ port: 0, host: '127.0.0.1' })
  const seal = sealOf(rig.server)
  await dropOne(rig)
  while (rig.accepted.length === 0) await turns(1)
  await turns(5)
  let found = await seal.attempt(true)
  for (; found === 'others'; found = await seal.attempt(true)) await turns(3)
  expect(found).toBe('reopened')
  const { socket } = rig.client()
  await once(socket, 'connect')
  await turns(5)
  while ((await seal.attempt(true)) !== 'sealed') await turns(3)
})

linux('a queue that was shut is not reopened, whatever it has dropped', async () => {
  const rig = await listening({ port: 0, host: '127.0.0.1' })
  const seal = sealOf(rig.server)
  await dropOne(rig)
  while (rig.accepted.length === 0) await turns(1)
  await turns(5)
  seal.shut()
  let found = await seal.attempt(true)
  for (; found === 'others'; found = await seal.attempt(true)) await turns(3)
  expect(found).toBe('sealed')
})

/** Emptied until it was asked whether it may be reopened each time, which it is when it may. */
async function reopening(closesBy: number): Promise<{ asked: boolean[]; goneOn: number; tookMs: number }> {
  const asked: boolean[] = []
  let goneOn = 0
  const begun = performance.now()
  const seal: QueueSeal = {
    attempt: (mayReopen) => {
      asked.push(mayReopen)
      return Promise.resolve(mayReopen ? 'reopened' : 'sealed')
    },
    shut: () => undefined,
  }
  await emptyAcceptQueue({
    clock: new VirtualClock(),
    accepted: () => 0,
    close: () => undefined,
    seal,
    goOn: () => void goneOn++,
    ...UNBOUNDED,
    closesBy,
  })
  return { asked, goneOn, tookMs: performance.now() - begun }
}

test('a queue that was reopened stays open for a while, twice at most, and what has gathered goes on', async () => {
  const { asked, goneOn, tookMs } = await reopening(Number.POSITIVE_INFINITY)
  expect(asked).toEqual([true, true, false])
  expect(goneOn).toBe(2)
  expect(tookMs).toBeGreaterThan(590)
})

test('a queue is not reopened for longer than there is time', async () => {
  // Virtual time stands still at 0.
  expect((await reopening(300)).asked).toEqual([false])
  expect((await reopening(301)).asked).toEqual([true, true, false])
})

test('a queue whose listener is closed is emptied no longer', async () => {
  const cut = new AbortController()
  let attempts = 0
  const begun = performance.now()
  await emptyAcceptQueue({
    clock: systemClock,
    accepted: () => 0,
    close: () => undefined,
    seal: {
      attempt: () => {
        attempts++
        setImmediate(() => cut.abort())
        return Promise.resolve('reopened')
      },
      shut: () => undefined,
    },
    goOn: () => undefined,
    ...UNBOUNDED,
    signal: cut.signal,
  })
  expect(attempts).toBe(1)
  expect(performance.now() - begun).toBeLessThan(250)
})
