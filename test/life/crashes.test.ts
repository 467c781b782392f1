// Fails when: a crash is not heard because others listen, or keeps them from hearing it; when a
// listener that fails takes the crash from others or becomes a crash itself; when one crash that
// node emits twice counts twice; or when something is listened to after the last life.
import { EventEmitter } from 'node:events'
import { describe, expect, test } from 'vitest'
import { onCrash, othersListenToCrashes } from '#src/process/crashes.ts'

function world() {
  const source = new EventEmitter()
  const heard: unknown[] = []
  const listen = () =>
    onCrash(source, {
      crashed: (origin, thrown) => void heard.push([origin, thrown]),
      listenerFailed: (event, thrown) => void heard.push(['failed', event, thrown]),
      endless: () => void heard.push('endless'),
      captured: () => void heard.push('captured'),
    })
  const listeners = () => [source.listenerCount('uncaughtException'), source.listenerCount('unhandledRejection')]
  return { source, heard, listen, listeners }
}

test('both kinds of crash are heard until the last life has gone', () => {
  const { source, heard, listen, listeners } = world()
  const [one, two] = [listen(), listen()]
  expect(listeners()).toEqual([1, 1])
  one[Symbol.dispose]()
  source.emit('uncaughtException', 'a', 'uncaughtException')
  source.emit('unhandledRejection', 'b', {})
  source.emit('SIGTERM', 'SIGTERM')
  expect(heard).toEqual([
    ['uncaughtException', 'a'],
    ['unhandledRejection', 'b'],
  ])
  two[Symbol.dispose]()
  expect(listeners()).toEqual([0, 0])
  expect(Object.hasOwn(source, 'emit')).toBe(false)
  expect(source.emit('uncaughtException', 'c')).toBe(false)
  expect(heard).toHaveLength(2)
})

describe('other listeners', () => {
  test('hear it too, those from before and those that come later, and find ours among the listeners', () => {
    const { source, heard, listen } = world()
    const counts: number[] = []
    const look = () => void counts.push(source.listeners('uncaughtException').length)
    source.on('uncaughtException', look)
    using _life = listen()
    source.once('uncaughtException', look)
    source.emit('uncaughtException', 'a')
    expect(heard).toEqual([['uncaughtException', 'a']])
    // One of them was there once.
    expect(counts).toEqual([3, 2])
  })

  test('that ends the process has not kept the crash from us', () => {
    const { source, heard, listen } = world()
    const seen: number[] = []
    source.on('uncaughtException', () => void seen.push(heard.length))
    using _life = listen()
    source.emit('uncaughtException', 'a')
    expect(seen).toEqual([1])
  })

  test('that throws or rejects keeps no other from hearing an exception, and is no crash', async () => {
    const { source, heard, listen } = world()
    source.on('uncaughtException', () => {
      throw new Error('thrown by a listener')
    })
    source.on('uncaughtException', async () => {
      throw new Error('rejected by a listener')
    })
    // What a program writes that wants node to end it.
    source.on('uncaughtException', (error) => {
      throw error
    })
    using _life = listen()
    let after = 0
    source.on('uncaughtException', () => after++)
    const thrown = new Error('a')
    expect(source.emit('uncaughtException', thrown)).toBe(true)
    await new Promise(setImmediate)
    expect(after).toBe(1)
    expect(heard).toEqual([
      ['uncaughtException', thrown],
      ['failed', 'uncaughtException', new Error('thrown by a listener')],
      ['failed', 'uncaughtException', new Error('rejected by a listener')],
    ])
  })

  test('that rethrows a rejection gives it to the listeners of exceptions, and that is the same crash', () => {
    const { source, heard, listen } = world()
    const reported: unknown[] = []
    source.on('unhandledRejection', (reason) => {
      throw reason
    })
    source.on('uncaughtException', (error) => void reported.push(error))
    using _life = listen()
    const reason = new Error('a')
    // As node does it.
    expect(() => source.emit('unhandledRejection', reason, {})).toThrow(reason)
    source.emit('uncaughtException', reason, 'uncaughtException')
    expect(reported).toEqual([reason])
    expect(heard).toEqual([['unhandledRejection', reason]])
    source.emit('uncaughtException', reason, 'uncaughtException')
    expect(heard).toHaveLength(2)
  })

  test('are named when they may end the process, and not when they are known to leave that to us', () => {
    const { source, listen } = world()
    using _life = listen()
    const events = ['uncaughtException', 'unhandledRejection'] as const
    expect(othersListenToCrashes(source, events)).toEqual([])
    source.on(
      'uncaughtException',
      Object.assign(() => {}, { _errorHandler: true }),
    )
    source.on('unhandledRejection', function sendUnhandledPromise() {})
    expect(othersListenToCrashes(source, events)).toEqual([])
    source.on('unhandledRejection', () => {})
    expect(othersListenToCrashes(source, events)).toEqual(['unhandledRejection'])
  })
})

test.each([new Error('a'), 'no error'])('a rejection that node emits as an exception first is one crash: %s', (reason) => {
  const { source, heard, listen } = world()
  using _life = listen()
  // With --unhandled-rejections=strict.
  const error = reason instanceof Error ? reason : Object.assign(new Error('wrapped'), { code: 'ERR_UNHANDLED_REJECTION' })
  source.emit('uncaughtException', error, 'unhandledRejection')
  source.emit('unhandledRejection', reason, {})
  expect(heard).toEqual([['unhandledRejection', error]])
})

test('an exception that a capture callback takes is noticed', () => {
  const { source, heard, listen } = world()
  using _life = listen()
  let captures = false
  Object.assign(source, { hasUncaughtExceptionCaptureCallback: () => captures })
  source.emit('uncaughtExceptionMonitor', 'a', 'uncaughtException')
  expect(heard).toEqual([])
  captures = true
  source.emit('uncaughtExceptionMonitor', 'a', 'uncaughtException')
  expect(heard).toEqual(['captured'])
})

test('an emit that others have put around ours stays, and lets everything through', () => {
  const { source, heard, listen } = world()
  const life = listen()
  const ours = source.emit
  source.emit = function emit(this: EventEmitter, ...args: Parameters<EventEmitter['emit']>) {
    return ours.apply(this, args)
  }
  const theirs = source.emit
  life[Symbol.dispose]()
  expect(source.emit).toBe(theirs)
  let ran = 0
  source.on('uncaughtException', () => ran++)
  expect(source.emit('uncaughtException', 'a')).toBe(true)
  expect([ran, heard]).toEqual([1, []])
})

test('of crashes without end in one turn of the event loop a hundred are told, and again in the next', async () => {
  const { source, heard, listen } = world()
  using _life = listen()
  const flood = (): unknown[] => {
    heard.length = 0
    for (let crash = 0; crash < 500; crash++) source.emit('uncaughtException', crash, 'uncaughtException')
    return [...heard]
  }
  const told = [...Array.from({ length: 99 }, (_, crash) => ['uncaughtException', crash]), 'endless']
  expect(flood()).toEqual(told)
  await new Promise((resolve) => setTimeout(resolve, 2))
  expect(flood()).toEqual(told)
})
