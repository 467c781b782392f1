import fs from 'node:fs'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { promisify } from 'node:util'
import { describe, expect, onTestFinished, test } from 'vitest'
import { takeOverWriters } from '#src/terminal/other-writers.ts'
import { temporaryFolder } from '../support/process.ts'

/** A stream with a file descriptor, and a file behind it. */
function taken() {
  const path = join(temporaryFolder(), 'out')
  const fd = fs.openSync(path, 'w')
  onTestFinished(() => fs.closeSync(fd))
  const passed: string[] = []
  const stream = Object.assign(
    new Writable({
      write: (chunk: Buffer, _, callback) => {
        passed.push(chunk.toString())
        callback()
      },
    }),
    { fd },
  )
  const texts: string[] = []
  const over = takeOverWriters([stream], (text) => texts.push(text))
  onTestFinished(() => over[Symbol.dispose]())
  return { path, fd, stream, passed, texts, over, file: () => fs.readFileSync(path, 'utf8') }
}

describe('what the program writes to a terminal is taken over', () => {
  test('by the stream, as text and as bytes, with its callbacks', async () => {
    const { stream, texts, passed } = taken()
    expect(stream.write('one')).toBe(true)
    await new Promise<void>((resolve) => stream.write('two\n', () => resolve()))
    await new Promise<void>((resolve) => stream.write(Buffer.from('drei ü'), 'utf8', () => resolve()))
    const euro = Buffer.from('€')
    stream.write(euro.subarray(0, 1))
    stream.write(euro.subarray(1))
    stream.write('aGk=', 'base64')
    expect(texts).toEqual(['one', 'two\n', 'drei ü', '', '€', 'hi'])
    expect(passed).toEqual([])
  })

  test('by the file descriptor, in every form of the call', async () => {
    const { fd, texts, file } = taken()
    const bytes = Buffer.from('0123456789')
    expect(fs.writeSync(fd, 'text ü')).toBe(7)
    expect(fs.writeSync(fd, bytes)).toBe(10)
    expect(fs.writeSync(fd, bytes, 2)).toBe(8)
    expect(fs.writeSync(fd, bytes, 2, 3)).toBe(3)
    const inOneObject = fs.writeSync as unknown as (file: number, all: Uint8Array, range: { offset: number; length: number }) => number
    expect(inOneObject(fd, bytes, { offset: 4, length: 2 })).toBe(2)
    await new Promise<void>((resolve) =>
      fs.write(fd, 'later', (error, written, text) => {
        expect([error, written, text]).toEqual([null, 5, 'later'])
        resolve()
      }),
    )
    expect(await promisify(fs.write)(fd, bytes, 1, 2, null)).toEqual({ bytesWritten: 2, buffer: bytes })
    expect(texts).toEqual(['text ü', '0123456789', '23456789', '234', '45', 'later', '12'])
    expect(file()).toBe('')
  })

  test('and nothing else is', () => {
    const { texts } = taken()
    const path = join(temporaryFolder(), 'other')
    const other = fs.openSync(path, 'w')
    fs.writeSync(other, 'mine')
    fs.closeSync(other)
    expect(fs.readFileSync(path, 'utf8')).toBe('mine')
    expect(texts).toEqual([])
  })

  test('until it is given back', () => {
    const before = { writeSync: fs.writeSync, write: fs.write }
    const { fd, stream, passed, texts, over, file } = taken()
    expect(fs.writeSync).not.toBe(before.writeSync)
    over[Symbol.dispose]()
    expect({ writeSync: fs.writeSync, write: fs.write }).toEqual(before)
    expect(Object.hasOwn(stream, 'write')).toBe(false)
    stream.write('one')
    fs.writeSync(fd, 'two')
    expect([texts, passed, file()]).toEqual([[], ['one'], 'two'])
  })

  test('also from one that has put its own function in between meanwhile, which stays', () => {
    const { stream, passed, over } = taken()
    const ours = stream.write.bind(stream)
    const theirs = ((chunk: string) => ours(`${chunk}!`)) as typeof stream.write
    stream.write = theirs
    over[Symbol.dispose]()
    expect(stream.write).toBe(theirs)
    stream.write('one')
    expect(passed).toEqual(['one!'])
  })
})
