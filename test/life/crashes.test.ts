// Fails when: a crash is not heard, is taken from a listener that was there first, or is listened
// to after the last life.
import { EventEmitter } from 'node:events'
import { expect, test } from 'vitest'
import { type CrashEvent, onCrash } from '#src/process/crashes.ts'

function world(others: readonly CrashEvent[] = []) {
  const source = new EventEmitter()
  for (const event of others) source.on(event, () => {})
  const heard: unknown[] = []
  const listen = () => onCrash(source, (event, error) => void heard.push([event, error]))
  const listeners = () => [source.listenerCount('uncaughtException'), source.listenerCount('unhandledRejection')]
  return { source, heard, listen, listeners }
}

test('both kinds of crash are heard until the last life has gone', () => {
  const { source, heard, listen, listeners } = world()
  const [one, two] = [listen(), listen()]
  expect([one.leftToOthers, two.leftToOthers]).toEqual([[], []])
  expect(listeners()).toEqual([1, 1])
  one[Symbol.dispose]()
  source.emit('uncaughtException', 'a')
  source.emit('unhandledRejection', 'b')
  expect(heard).toEqual([
    ['uncaughtException', 'a'],
    ['unhandledRejection', 'b'],
  ])
  two[Symbol.dispose]()
  expect(listeners()).toEqual([0, 0])
})

test('a crash that has a listener is left to it, also by the next life', () => {
  const { source, heard, listen, listeners } = world(['uncaughtException'])
  const lives = [listen(), listen()]
  expect(lives.map(({ leftToOthers }) => leftToOthers)).toEqual([['uncaughtException'], ['uncaughtException']])
  expect(listeners()).toEqual([1, 1])
  source.emit('uncaughtException', 'a')
  source.emit('unhandledRejection', 'b')
  expect(heard).toEqual([
    ['unhandledRejection', 'b'],
    ['unhandledRejection', 'b'],
  ])
  for (const life of lives) life[Symbol.dispose]()
  expect(listeners()).toEqual([1, 0])
})
