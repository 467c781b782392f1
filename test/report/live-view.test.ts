import { describe, expect, test } from 'vitest'
import { VirtualClock } from '#src/base/virtual-clock.ts'
import { LiveView } from '#src/terminal/live-view.ts'
import { Screen } from '../support/screen.ts'

const FRAME = ['draining for 1.0s', '  request-drain  GET /slow']

const inWindow = (columns: number): string[] => FRAME.map((line) => line.slice(0, columns - 1))

/** A view on a screen, with a log beside it. */
function shown({ columns = 40, rows = 10 }: { columns?: number; rows?: number } = {}) {
  const clock = new VirtualClock()
  const screen = new Screen(columns, rows)
  const terminal = { pendingBytes: 0, write: (text: string) => screen.write(text) }
  const asked: { width: number; height: number }[] = []
  const world = { frame: FRAME as readonly string[] }
  const view = new LiveView({
    clock,
    terminal,
    size: () => ({ columns: screen.columns, rows: screen.rows }),
    lines: (width, height) => {
      asked.push({ width, height })
      return world.frame.slice(0, height).map((line) => line.slice(0, width - 1))
    },
  })
  const log = (text: string): void => terminal.write(view.above(`${text}\n`))
  return { clock, screen, terminal, asked, world, view, log }
}

describe('a live view', () => {
  test('stands below the log, is redrawn in place, and leaves nothing behind', async () => {
    const { clock, screen, world, view, log } = shown()
    log('one')
    view.start()
    expect(screen.lines).toEqual(['one'])
    await clock.advance(250)
    expect(screen.lines).toEqual(['one', '', ...FRAME])
    log('two')
    log('three, which is longer than the terminal is wide')
    expect(screen.lines).toEqual(['one', 'two', 'three, which is longer than the terminal is wide', '', ...FRAME])
    world.frame = ['draining for 1.2s']
    await clock.advance(250)
    expect(screen.lines.slice(-3)).toEqual(['three, which is longer than the terminal is wide', '', 'draining for 1.2s'])
    world.frame = ['a', 'b', 'c', 'd']
    await clock.advance(250)
    view.stop()
    log('four')
    expect(screen.lines).toEqual(['one', 'two', 'three, which is longer than the terminal is wide', 'four'])
  })

  test('is never drawn for an end that takes no time', async () => {
    const { clock, screen, view } = shown()
    view.start()
    await clock.advance(249)
    view.stop()
    await clock.advance(10_000)
    expect(screen.writes).toBe(0)
  })

  test('is drawn four times per second, each time in one write', async () => {
    const { clock, screen, view } = shown()
    view.start()
    view.start()
    await clock.advance(10_000)
    expect(screen.writes).toBe(40)
  })

  test('shows what is so now below the line that tells of it, once for all that happens in a turn', async () => {
    const { clock, screen, world, asked, view, log } = shown()
    view.start()
    view.refresh()
    await Promise.resolve()
    expect(screen.writes).toBe(0)
    await clock.advance(250)
    world.frame = ['nothing blocks the exit']
    log('requests have drained')
    const before = asked.length
    view.refresh()
    view.refresh()
    await Promise.resolve()
    expect(screen.lines).toEqual(['requests have drained', '', 'nothing blocks the exit'])
    expect(asked.length - before).toBe(1)
    view.refresh()
    view.stop()
    await Promise.resolve()
    expect(screen.lines).toEqual(['requests have drained'])
  })

  test('scrolls with a full screen', async () => {
    const { clock, screen, view, log } = shown({ rows: 4 })
    view.start()
    for (let n = 1; n <= 20; n++) {
      log(`line ${n}`)
      await clock.advance(100)
    }
    const lines = Array.from({ length: 20 }, (_, index) => `line ${index + 1}`)
    expect(screen.lines).toEqual([...lines, '', ...FRAME])
    view.stop()
    expect(screen.lines).toEqual(lines)
  })

  test('is asked for the size of the window each time, and leaves a row for the cursor and one for the log', async () => {
    const { clock, screen, asked, view, log } = shown({ rows: 3 })
    log('one')
    view.start()
    await clock.advance(250)
    expect(screen.lines).toEqual(['one', '', FRAME[0]])
    screen.reflow(100)
    await clock.advance(250)
    expect(asked).toEqual([
      { width: 40, height: 1 },
      { width: 100, height: 1 },
    ])
  })

  test.each([8, 13, 26, 39, 41, 200])('finds its lines again in a window of now %d columns', async (columns) => {
    const { clock, screen, view, log } = shown()
    log('the log has lines that wrap in a window which is narrower')
    view.start()
    await clock.advance(250)
    screen.reflow(columns)
    await clock.advance(250)
    log('two')
    expect(screen.lines).toEqual(['the log has lines that wrap in a window which is narrower', 'two', '', ...inWindow(columns)])
    screen.reflow(40)
    view.stop()
    expect(screen.lines).toEqual(['the log has lines that wrap in a window which is narrower', 'two'])
  })

  test('draws over what somebody types', async () => {
    const { clock, screen, view, log } = shown()
    log('one')
    screen.write('^C')
    view.start()
    await clock.advance(250)
    screen.write('^C')
    await clock.advance(250)
    expect(screen.lines).toEqual(['one', '', ...FRAME])
    screen.write('^C')
    view.stop()
    expect(screen.lines).toEqual(['one'])
  })

  test('leaves a terminal alone that takes nothing', async () => {
    const { clock, screen, terminal, asked, view } = shown()
    view.start()
    terminal.pendingBytes = 1
    await clock.advance(10_000)
    expect(screen.writes).toBe(0)
    expect(asked).toEqual([])
    terminal.pendingBytes = 0
    await clock.advance(250)
    expect(screen.lines).toEqual(['', ...FRAME])
  })

  test('touches nothing above the cursor: what others write stays, with the view below it', async () => {
    const { clock, screen, view, log } = shown({ rows: 8 })
    log('one')
    view.start()
    await clock.advance(250)
    for (let n = 1; n <= 10; n++) {
      // Past all that could know of it: a child process, a worker thread.
      screen.write(`other ${n}\n`)
      await clock.advance(250)
    }
    log('two')
    expect(screen.lines).toEqual(['one', ...Array.from({ length: 10 }, (_, index) => `other ${index + 1}`), 'two', '', ...FRAME])
  })

  test('has a window that changes its size at any time, between any two lines, and loses none', async () => {
    const { clock, screen, view, log } = shown({ columns: 100, rows: 12 })
    view.start()
    const lines: string[] = []
    for (const [n, columns] of [100, 45, 100, 60, 120, 20, 21, 200, 45, 100].entries()) {
      screen.reflow(columns)
      if (n % 2 === 0) await clock.advance(250)
      lines.push(`line ${n}, which is as long as the lines of a log are, and wraps in a narrow window`)
      log(lines.at(-1) as string)
      await clock.advance(250)
      expect(screen.lines).toEqual([...lines, '', ...inWindow(columns)])
    }
    view.stop()
    expect(screen.lines).toEqual(lines)
  })

  test('keeps a line that is not over in the row above it', async () => {
    const { clock, screen, view, log } = shown()
    view.write('before ')
    view.start()
    await clock.advance(250)
    expect(screen.lines).toEqual(['before', ...FRAME])
    view.write('.')
    log('one')
    expect(screen.lines).toEqual(['one', 'before .', ...FRAME])
    view.write('.\ntwo\n.')
    expect(screen.lines).toEqual(['one', 'before ..', 'two', '.', ...FRAME])
    view.stop()
    expect(screen.lines).toEqual(['one', 'before ..', 'two', '.'])
  })

  test('is left out of what waits for a terminal that takes nothing', async () => {
    const { clock, terminal, view } = shown()
    view.start()
    await clock.advance(250)
    terminal.pendingBytes = 1
    expect(view.above('one\n')).toBe('\r\u001b[Jone\n')
    expect(view.above('two\n')).toBe('two\n')
  })
})
