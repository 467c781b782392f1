import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../support/process.ts'
import { InspectorPage, useBrowser } from './pages.ts'
import { Served } from './served.ts'

/**
 * The inspector's page in a real browser, in front of real processes: what a person reads from the
 * start to after the end.
 */

useBrowser()

const TELEPHONE = { viewport: { width: 360, height: 740 } }

const MODES = [
  { mode: 'refuse', args: [], closing: 'close-listener', drainsAfter: 'NotAcceptingNewRequest and LastCallComplete' },
  {
    mode: 'retry-after',
    args: ['--shutdown-send-retry-after'],
    closing: 'close-listener-after-drain',
    drainsAfter: 'NotAcceptingNewRequest',
  },
] as const

test.each(MODES)('a whole shutdown in mode $mode, begun on the page', async ({ mode, args, closing, drainsAfter }) => {
  const server = Served.serve('--shutdown-delay-duration=200ms', '--deadline=60s', ...args)
  const page = await InspectorPage.open(await server.inspector)
  await page.headline(/^Serving$/)
  await page.reads('#life-mode', new RegExp(`^mode ${mode}$`))
  await page.reads('#life-status-detail', /^On http:\/\/127\.0\.0\.1:\d+, with 0 requests and 0 watches open\./)
  await page.reads(
    '#budget-text',
    mode === 'refuse'
      ? /^A stop now would take at most 1m0s: 200ms delay, then new connections are refused\.$/
      : /^A stop now would take at most 1m0s: 200ms delay, then new requests are answered 429 with Retry-After\.$/,
  )
  expect(await page.row('request-drain')).toBe(`request-drain: waiting for ${drainsAfter}; fires RequestsDrained`)

  // The picture comes a moment later than the rest.
  await page.shows('stop', 'living')
  const places = await page.places()

  const slow = await server.request('/slow?ms=60000')
  await server.request('/watch?intervalMs=100')
  await page.reads('#outcome-headline', /^A stop now would wait for 1 request and 1 watch$/)
  await page.reads('.of-request', /GET \/slow/)

  // A shutdown has no way back: the page asks first, and takes no for an answer.
  await page.button('Begin shutdown…').click()
  await page.reads('#confirm-title', /^Begin the shutdown\?$/)
  await page.button('Cancel').click()
  await page.headline(/^Serving$/)
  await page.button('Begin shutdown…').click()
  await page.button('Begin shutdown').click()

  await page.headline(/^Shutting down: GET \/slow blocks the exit; cut in [\d.]+s$/)
  await page.reads('#life-status-detail', /^For [\d.]+s, [\d.]+s left, asked by .* Under way: .*request-drain/)
  await page.reads('#budget-text', /of 1m0s used; next is Cut\.requests in/)
  await page.shows('request-drain', 'working')
  await page.reads('#outcome-headline', /^Waiting for 1 request/)
  expect(await page.row('shutdown-delay')).toMatch(/^shutdown-delay: ok after [\d.]+m?s; fires AfterShutdownDelayDuration$/)

  slow.giveUp()
  await page.headline(/^Graceful: everything ended by itself, exit code 0$/)
  expect(await server.exitCode).toBe(0)
  await page.reads('#life-status-detail', /The server is gone; its final state and report stay here\.$/)
  await page.reads('#announcer', /^Graceful: everything ended by itself, exit code 0\./)
  expect(await page.row(closing)).toMatch(/: ok after .*; fires HTTPServerStoppedListening$/)
  await page.page.locator('[data-state="lifecycle.ended"].active').waitFor()
  await page.shows('request-drain', 'fired', 'ok')
  await page.reads('#report-body', /requests\s+1 to drain, 0 left\s+watches\s+1 to drain, 0 left/)
  await page.reads('#log-body', /ended, exit code 0/)
  await page.reads('#outcome-headline', /^Nothing was left behind$/)

  // The page has what the server had.
  const [download] = await Promise.all([page.page.waitForEvent('download'), page.button('Save report').click()])
  expect(JSON.parse(readFileSync(await download.path(), 'utf8'))).toMatchObject({ exitCode: 0, requests: { before: 1, after: 0 } })
  expect(page.complaints).toEqual([])
  // Nothing has moved, while everything happened.
  expect(await page.places()).toEqual(places)
})

test('a drill puts load on the example, and then shuts it down under it', async () => {
  const server = Served.serve('--deadline=60s')
  const page = await InspectorPage.open(await server.inspector)
  await page.headline(/^Serving$/)
  await page.button('Run a drill…').click()
  await page.reads('#confirm-title', /^Run a drill\?$/)
  await page.button('Run the drill').click()
  await page.headline(/^Graceful: everything ended by itself, exit code 0$/)
  expect(await server.exitCode).toBe(0)
  // The slow requests that were still open, and whatever a quick client asked just then.
  await page.reads('#report-body', /requests\s+[1-9]\d* to drain, 0 left\s+watches\s+3 to drain, 0 left/)
  await page.reads('#report-body', /stopped by\s+stop\(\): asked for in the inspector/)
  // A second is soon over: what it was is still there.
  await page.page.locator('#log-text').fill('StopRequested')
  await page.page.locator('#log-body button', { hasText: 'StopRequested' }).click()
  await page.page.locator('#step-back').click()
  await page.reads('#outcome-headline', /^A stop now would wait for \d+ requests and 3 watches$/)
  await page.reads('.of-request', /GET \/slow/)
  await page.reads('.of-watch', /GET \/events/)
  expect(page.complaints).toEqual([])
})

test('where others could come by, the address in the log opens the page, by a token that is nowhere else', async () => {
  const server = Served.serve('--deadline=60s', '--inspector-address=0.0.0.0:0')
  const address = new URL(await server.inspector)
  const token = address.searchParams.get('token') ?? ''
  expect(token).toMatch(/^[\w-]{32}$/)

  const stranger = await InspectorPage.open(address.origin + address.pathname)
  expect(await stranger.text('body')).toMatch(/^the inspector needs its token/)
  await stranger.page.goto(address.href.replace(token, 'x'.repeat(32)))
  expect(await stranger.text('body')).toMatch(/^the inspector needs its token/)

  const page = await InspectorPage.open(address.href)
  await page.headline(/^Serving$/)
  expect(page.page.url()).toBe(address.origin + address.pathname)
  await page.page.reload()
  await page.headline(/^Serving$/)
  await page.shows('stop', 'living')
  await page.button('Begin shutdown…').click()
  await page.button('Begin shutdown').click()
  await page.headline(/^Graceful: everything ended by itself, exit code 0$/)
  expect(await server.exitCode).toBe(0)
  expect(page.complaints).toEqual([])
})

test('a hook that fails is named, and costs the exit code', async () => {
  const server = Served.program('server.mjs', {
    options: { platform: 'unknown', shutdownDelay: 0, inspector: true },
    hooks: [
      { kind: 'pre-shutdown', name: 'leave', does: 'rejects', ms: 300 },
      { kind: 'pre-shutdown', name: 'flush', does: 'ends', ms: 10 },
    ],
  })
  const page = await InspectorPage.open(await server.inspector, { ...TELEPHONE, colorScheme: 'light' })
  await page.headline(/^Serving$/)
  await page.isFitForEverybody()
  // What is set up is there before anything has happened.
  await page.reads('.of-check', /^\/readyz has not been asked yet\s[\s\S]*shutdown\s+not asked yet/)
  await page.reads('.of-budget', /^A stop now would take at most 8s: [\s\S]*Cut\.requests\s[\s\S]*deadline\s/)
  await page.reads('.of-planned', /^2 hooks registered\s+leave\s+pre-shutdown\s+≤ [\d.]+s\s+flush\s/)
  const order = `[...document.querySelectorAll('.panel')].sort((a, b) => a.offsetTop - b.offsetTop).map(({ id }) => id)`
  expect(await page.page.evaluate(order)).toEqual(['outcome', 'timeline', 'log', 'chart', 'machines'])
  server.child.kill('SIGTERM')
  await page.headline(/^Ended in order, but something failed, exit code 4$/)
  await page.reads('#life-status-trouble', /^1 failed: pre-shutdown hook "leave"$/)
  await page.shows('pre-shutdown-hooks', 'fired', 'failed')
  await page.shows('request-drain', 'fired', 'ok')
  expect(await page.row('leave')).toMatch(/^pre-shutdown hook leave: failed after \d+ms; rejected on purpose$/)
  expect(await page.row('flush')).toMatch(/^pre-shutdown hook flush: ok after/)
  await page.reads('#report-body', /failed\s+pre-shutdown hook "leave": rejected on purpose/)
  await page.isFitForEverybody()
  expect(page.complaints).toEqual([])
})

test('what the deadline cuts is named', async () => {
  const server = Served.serve('--shutdown-delay-duration=0s', '--deadline=3s')
  const page = await InspectorPage.open(await server.inspector, { ...TELEPHONE, colorScheme: 'dark' })
  await page.headline(/^Serving$/)
  await server.request('/slow?ms=60000')
  await page.reads('#outcome-headline', /1 request/)
  server.child.kill('SIGTERM')
  await page.headline(/^Something was cut before it was done, or lost, exit code 5$/)
  expect(await page.row('request-drain')).toMatch(/^request-drain: cut after [\d.]+m?s; fires RequestsDrained$/)
  await page.reads('#outcome-headline', /^Left behind: 1 request/)
  await page.reads('#report-body', /cut\s+GET \/slow/)
  await page.page.locator('#log-text').fill('Cut.requests')
  await page.reads('#log-body', /Cut\.requests/)
  await page.shows('request-drain', 'fired', 'cut')
  await page.isFitForEverybody()
  expect(page.complaints).toEqual([])
})

test('the first view has everything: the statechart behind the timeline, the hooks, and a log that follows', async () => {
  const folder = temporaryFolder()
  const journal = join(folder, 'journal.ndjson')
  const server = Served.program('server.mjs', {
    options: { platform: 'unknown', shutdownDelay: '1s', deadline: '8s', inspector: true, journal },
    hooks: [
      { kind: 'pre-shutdown', name: 'leave', does: 'ends', ms: 100 },
      { kind: 'destroy', name: 'pool', does: 'ends', ms: 100 },
    ],
  })
  await server.inspector
  server.child.kill('SIGTERM')
  await server.exitCode
  const page = await InspectorPage.open(await Served.recording(journal).inspector, { viewport: { width: 1440, height: 900 } })
  await page.headline(/exit code 0$/)
  await page.page.locator('[data-state="lifecycle.ended"].active').waitFor()
  expect(await page.page.evaluate('document.documentElement.scrollHeight')).toBe(900)
  const inFront = (selector: string): Promise<boolean> => page.page.evaluate(IN_FRONT(selector))
  const visible = async () => {
    const panels = ['#timeline', '#chart', '#outcome', '#log', '#machines']
    const seen = await Promise.all(panels.map(inFront))
    return panels.filter((_, at) => seen[at])
  }
  expect(await visible()).toEqual(['#timeline', '#outcome', '#log'])
  // No row of a hook is below the edge.
  expect(await inFront('[title^="destroy hook pool"]')).toBe(true)
  await page.button('Statechart').click()
  expect(await visible()).toEqual(['#chart', '#outcome', '#log'])
  const size = `(() => {
    const text = document.getElementById('chart-body').firstElementChild.shadowRoot.querySelector('[data-state="request-drain"] text')
    return text.getBoundingClientRect().height
  })()`
  expect(await page.page.evaluate(size)).toBeGreaterThan(11)
  await page.button('Timeline').click()
  await page.page.keyboard.press('5')
  expect(await visible()).toEqual(['#timeline', '#outcome', '#machines'])
  await page.page.keyboard.press('4')
  expect(await visible()).toEqual(['#timeline', '#outcome', '#log'])

  // Wherever one goes, the log has what was just before and what comes next.
  const around = `(() => {
    const { top, bottom } = document.getElementById('log-body').getBoundingClientRect()
    const lines = [...document.querySelectorAll('#log-body li')].filter((line) => {
      const box = line.getBoundingClientRect()
      return box.top >= top - 1 && box.bottom <= bottom + 1
    })
    return lines.map((line) => line.hasAttribute('aria-current') ? 'here' : line.classList.contains('later') ? 'later' : 'before').join(' ')
  })()`
  const count = Number(await page.page.locator('#scrubber').getAttribute('max'))
  for (const part of [0.3, 0.7, 0.5, 0.6]) {
    await page.page.locator('#scrubber').fill(String(Math.floor(count * part)))
    await expect.poll(() => page.page.evaluate(around)).toMatch(/before here later/)
    expect(((await page.page.evaluate(around)) as string).split(' ').length).toBeGreaterThan(6)
  }
  expect(page.complaints).toEqual([])
})

/** Whether an element is what one sees where it is. */
const IN_FRONT = (selector: string) => `(() => {
  const found = document.querySelector('${selector}')
  if (!found) return false
  const { left, top, width, height } = found.getBoundingClientRect()
  return found.contains(document.elementFromPoint(left + width / 2, top + Math.min(height / 2, 20)))
})()`

test('what is there many times is one row, which opens', async () => {
  const server = Served.serve('--shutdown-delay-duration=0s', '--deadline=60s')
  const page = await InspectorPage.open(await server.inspector, { viewport: { width: 1440, height: 900 } })
  await page.headline(/^Serving$/)
  for (let i = 0; i < 6; i++) await server.request('/slow?ms=60000')
  await page.reads('.of-request', /^6 requests\s+GET \/slow ×6\s/)
  await page.page.locator('.of-request summary').click()
  await expect.poll(() => page.page.locator('.of-request .blockers .blockers li').count()).toBe(6)
  await page.isFitForEverybody()
  // A word that is no everyday one has its meaning beside it.
  await page.page.locator('.glossary summary').click()
  await page.reads('#glossary', /last call\s+the short time after the listeners closed/)
  expect(page.complaints).toEqual([])
})

test('every panel is some keys away, and the log is one stop', async () => {
  const server = Served.serve()
  const page = await InspectorPage.open(await server.inspector)
  await page.headline(/^Serving$/)
  const { keyboard } = page.page
  const focused = (): Promise<string> => page.page.evaluate('document.activeElement.closest("[id]")?.id ?? ""')
  await keyboard.press('4')
  expect(await focused()).toBe('log')
  await keyboard.press('F6')
  expect(await focused()).toBe('machines')
  await keyboard.press('Shift+F6')
  await keyboard.press('Shift+F6')
  expect(await focused()).toBe('chart')
  expect(await page.page.locator('#log-body button').count()).toBeGreaterThan(12)
  expect(await page.page.locator('#log-body button[tabindex="0"]').count()).toBe(1)
  await page.page.locator('#log-body button[tabindex="0"]').focus()
  const chosen = () => page.text('#log-body button:focus')
  const last = await chosen()
  await keyboard.press('ArrowUp')
  expect(await chosen()).not.toBe(last)
  expect(await page.page.locator('#log-body button[tabindex="0"]').count()).toBe(1)
  await keyboard.press('ArrowDown')
  expect(await chosen()).toBe(last)
  // The lines stay where they are, and the page where it was.
  await page.headline(/^Serving$/)
  expect(page.complaints).toEqual([])
})

/** What is seen of the chart, in numbers. */
const CHART = `(() => {
  const body = document.getElementById('chart-body')
  const { left, top, width, height } = body.getBoundingClientRect()
  const picture = body.firstElementChild.shadowRoot.querySelector('svg').getBoundingClientRect()
  return {
    whole: picture.width <= width && picture.height <= height,
    scale: picture.width,
    middle: [(left + width / 2 - picture.left) / picture.width, (top + height / 2 - picture.top) / picture.height],
  }
})()`
interface Seen {
  readonly whole: boolean
  readonly scale: number
  readonly middle: readonly [number, number]
}

test('the statechart is fitted whole, and zoomed and dragged about what is seen', async () => {
  const server = Served.serve()
  const page = await InspectorPage.open(await server.inspector)
  await page.button('Statechart').click()
  await page.shows('stop', 'living')
  const seen = (): Promise<Seen> => page.page.evaluate(CHART)
  const { mouse } = page.page
  const region = () => page.region('request-drain').boundingBox() as Promise<Box>
  interface Box {
    readonly x: number
    readonly y: number
    readonly width: number
  }
  await page.button('Fit').click()
  expect(await seen()).toMatchObject({ whole: true })
  expect(await page.page.locator('.minimap').isVisible()).toBe(false)

  // With the buttons about the middle.
  for (let i = 0; i < 6; i++) await page.button('Larger').click()
  const before = await seen()
  expect(before.whole).toBe(false)
  expect(await page.page.locator('.minimap').isVisible()).toBe(true)
  await page.button('Larger').click()
  const { middle, scale } = await seen()
  expect(scale).toBeGreaterThan(before.scale)
  for (const i of [0, 1] as const) expect(middle[i]).toBeCloseTo(before.middle[i], 2)

  // With the wheel at the pointer.
  await page.region('request-drain').scrollIntoViewIfNeeded()
  const small = await region()
  await mouse.move(small.x, small.y)
  await page.page.keyboard.down('Control')
  await mouse.wheel(0, -60)
  await page.page.keyboard.up('Control')
  await expect.poll(async () => (await region()).width).toBeGreaterThan(small.width)
  const large = await region()
  expect(Math.hypot(large.x - small.x, large.y - small.y)).toBeLessThan(3)

  // A drag moves the picture, and opens nothing.
  await mouse.move(large.x + 5, large.y + 5)
  await mouse.down()
  await mouse.move(large.x - 55, large.y - 35, { steps: 4 })
  await mouse.up()
  const moved = await region()
  expect([Math.round(moved.x - large.x), Math.round(moved.y - large.y)]).toEqual([-60, -40])
  expect(await page.region('request-drain').getAttribute('aria-expanded')).toBe('false')
  expect(page.complaints).toEqual([])
})

test('what comes late finds its place: the head is as high before there is a budget, and an empty report takes none', async () => {
  const server = Served.serve()
  const page = await InspectorPage.open(await server.inspector)
  await page.headline(/^Serving$/)
  const heightOf = (selector: string): Promise<number> =>
    page.page.evaluate(`document.querySelector('${selector}').getBoundingClientRect().height`)
  const head = await heightOf('header')
  expect(await heightOf('#report-body')).toBe(0)
  await page.page.evaluate(`document.getElementById('budget-bar').replaceChildren()`)
  expect(await heightOf('header')).toBe(head)
})

test('the statechart is zoomed by two fingers, about their middle', async () => {
  const server = Served.serve()
  const page = await InspectorPage.open(await server.inspector, { ...TELEPHONE, hasTouch: true })
  await page.shows('stop', 'living')
  const region = page.region('serve')
  await page.page.locator('#chart-body').scrollIntoViewIfNeeded()
  const touch = await page.page.context().newCDPSession(page.page)
  const send = (type: 'touchStart' | 'touchMove' | 'touchEnd', ...points: readonly (readonly [number, number])[]): Promise<unknown> =>
    touch.send('Input.dispatchTouchEvent', { type, touchPoints: points.map(([x, y], id) => ({ x, y, id })) })
  const at = (await region.boundingBox()) as { x: number; y: number; width: number }
  // About the corner of a region, which stays where it is.
  await send('touchStart', [at.x - 10, at.y], [at.x + 10, at.y])
  for (const apart of [15, 20]) await send('touchMove', [at.x - apart, at.y], [at.x + apart, at.y])
  await send('touchEnd')
  const wide = (await region.boundingBox()) as typeof at
  expect(wide.width / at.width).toBeCloseTo(2, 1)
  expect(Math.hypot(wide.x - at.x, wide.y - at.y)).toBeLessThan(4)
  // The picture was zoomed, and not the page.
  expect(await page.page.evaluate('visualViewport.scale')).toBe(1)
  // On so small a screen a map would lie on the picture.
  expect(await page.page.locator('.minimap').isVisible()).toBe(false)
  expect(page.complaints).toEqual([])
})

test('a click on the map of the statechart goes there, and so does a drag', async () => {
  const server = Served.serve()
  const page = await InspectorPage.open(await server.inspector, { viewport: { width: 1280, height: 2_000 } })
  await page.button('Statechart').click()
  await page.shows('stop', 'living')
  for (let i = 0; i < 6; i++) await page.button('Larger').click()
  const map = (await page.page.locator('.minimap').boundingBox()) as { x: number; y: number; width: number; height: number }
  /** The middle of what is seen, as a part of the picture. */
  const middle = async (): Promise<readonly number[]> => ((await page.page.evaluate(CHART)) as Seen).middle
  const { mouse } = page.page
  const place = (part: number): [number, number] => [map.x + map.width * part, map.y + map.height * part]
  await mouse.click(...place(0.6))
  for (const part of await middle()) expect(part).toBeCloseTo(0.6, 1)
  await mouse.move(...place(0.6))
  await mouse.down()
  await mouse.move(...place(0.4), { steps: 3 })
  await mouse.up()
  for (const part of await middle()) expect(part).toBeCloseTo(0.4, 1)
  expect(page.complaints).toEqual([])
})

test('a region of the statechart opens where it is, by pointer and by keys', async () => {
  const server = Served.serve()
  const page = await InspectorPage.open(await server.inspector)
  await page.button('Statechart').click()
  await page.shows('stop', 'living')
  const working = page.page.locator('[data-state="lifecycle.running.request-drain.working"]')
  expect(await working.count()).toBe(0)
  const region = page.region('request-drain')
  expect(await region.getAttribute('aria-label')).toBe('request-drain: waiting')
  await region.scrollIntoViewIfNeeded()
  const closed = await region.boundingBox()
  await region.click({ position: { x: 8, y: 8 } })
  await working.waitFor()
  const open = await region.boundingBox()
  expect(Math.hypot((open?.x ?? 0) - (closed?.x ?? 0), (open?.y ?? 0) - (closed?.y ?? 0))).toBeLessThan(3)
  expect(await region.getAttribute('aria-expanded')).toBe('true')
  // It has the focus now; another key closes it, and arrows go on to its neighbours.
  await page.page.keyboard.press('Enter')
  await expect.poll(() => working.count()).toBe(0)
  await page.page.keyboard.press('ArrowDown')
  const focused = `document.getElementById('chart-body').firstElementChild.shadowRoot.activeElement.getAttribute('aria-label')`
  expect(await page.page.evaluate(focused)).toMatch(/^(?!request-drain)[\w-]+: waiting$/)
  // The keys that go through time elsewhere have done nothing to that.
  await page.headline(/^Serving$/)
  expect(page.complaints).toEqual([])
})

test('the statechart follows what works', async () => {
  const server = Served.serve('--shutdown-delay-duration=0s', '--deadline=60s')
  const page = await InspectorPage.open(await server.inspector, { viewport: { width: 900, height: 700 } })
  await page.shows('stop', 'living')
  for (let i = 0; i < 4; i++) await page.button('Larger').click()
  await page.page.evaluate(`document.getElementById('chart-body').scrollTo(0, 0)`)
  const slow = await server.request('/slow?ms=60000')
  server.child.kill('SIGTERM')
  await page.shows('request-drain', 'working', 'working')
  const inView = `(() => {
    const body = document.getElementById('chart-body')
    const region = body.firstElementChild.shadowRoot.querySelector('[data-state="request-drain"]').getBoundingClientRect()
    const { left, top, right, bottom } = body.getBoundingClientRect()
    return region.left >= left && region.top >= top && region.right <= right && region.bottom <= bottom
  })()`
  await expect.poll(() => page.page.evaluate(inView)).toBe(true)
  slow.giveUp()
  expect(await server.exitCode).toBe(0)
  expect(page.complaints).toEqual([])
})

test('the timeline is legible at every width, and shows a part of itself when asked', async () => {
  const folder = temporaryFolder()
  const journal = join(folder, 'journal.ndjson')
  const server = Served.program('server.mjs', {
    options: { platform: 'unknown', shutdownDelay: '300ms', deadline: '8s', whileDraining: 'retry-after', inspector: true, journal },
    hooks: [
      { kind: 'pre-shutdown', name: 'leave-the-registry-of-the-region', does: 'ends', ms: 100 },
      { kind: 'destroy', name: 'pool', does: 'ends', ms: 100 },
    ],
  })
  await server.inspector
  server.child.kill('SIGTERM')
  await server.exitCode
  const page = await InspectorPage.open(await Served.recording(journal).inspector)
  await page.headline(/exit code 0$/)
  for (const width of [1280, 1920, 3840]) {
    await page.page.setViewportSize({ width, height: 1400 })
    for (const scale of ['To the deadline', 'Whole life', 'Fit']) {
      await page.page.getByRole('radio', { name: scale, exact: true }).click()
      await expect.poll(() => page.illegible(), { timeout: 20_000 }).toEqual([])
    }
  }
  // Where names stand is worked out from their widths, as they are drawn on the largest screen too.
  await page.page.addInitScript(`{
    const { measureText } = CanvasRenderingContext2D.prototype
    window.measured = {}
    CanvasRenderingContext2D.prototype.measureText = function (text) {
      const measured = measureText.call(this, text)
      window.measured[text] = measured.width
      return measured
    }
  }`)
  await page.page.reload()
  await page.headline(/exit code 0$/)
  const mistaken = `[...document.querySelectorAll('.axis-name')]
    .filter((name) => name.checkVisibility())
    .map((name) => [name.textContent, measured[name.textContent], name.getBoundingClientRect().width])
    .filter(([, measured, drawn]) => !(Math.abs(measured - drawn) < 1))`
  await expect.poll(() => page.page.evaluate(mistaken), { timeout: 20_000 }).toEqual([])

  await page.page.setViewportSize({ width: 1280, height: 1400 })
  // The page hears of its new width in the next frame, and draws in the one after.
  await page.page.evaluate('new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(drawn))))')

  const ticks = `[...document.querySelectorAll('.axis .time')].map((tick) => tick.textContent + tick.style.getPropertyValue('--at'))`
  const times = (): Promise<string[]> => page.page.evaluate(ticks)
  const all = await times()
  const isOfTheStop = (each: string): boolean => /^00?\.\d+$/.test(each)
  expect(all.some(isOfTheStop)).toBe(true)
  const { x, y, width } = (await page.page.locator('.rows').boundingBox()) as { x: number; y: number; width: number }
  const { mouse, keyboard } = page.page
  await mouse.move(x + width * 0.6, y + 60)
  await mouse.down()
  await mouse.move(x + width * 0.7, y + 60, { steps: 3 })
  await mouse.up()
  await expect.poll(times, { timeout: 20_000 }).not.toEqual(all)
  expect((await times()).some(isOfTheStop)).toBe(false)
  await mouse.dblclick(x + width * 0.6, y + 60)
  await expect.poll(times, { timeout: 20_000 }).toEqual(all)
  // The same without a mouse.
  await page.page.locator('#timeline-body').focus()
  await keyboard.press('+')
  await expect.poll(times, { timeout: 20_000 }).not.toEqual(all)
  const closer = await times()
  await keyboard.press('ArrowRight')
  await expect.poll(times, { timeout: 20_000 }).not.toEqual(closer)
  await keyboard.press('Escape')
  await expect.poll(times, { timeout: 20_000 }).toEqual(all)
  await page.button('Show a shorter time').click()
  await expect.poll(times, { timeout: 20_000 }).not.toEqual(all)
  await page.page.getByRole('radio', { name: 'Fit', exact: true }).click()
  await expect.poll(times, { timeout: 20_000 }).toEqual(all)
  // It would have been noticed.
  await page.page.evaluate(`for (const word of document.querySelectorAll('.mark-word')) word.style.left = '-40px'`)
  expect(await page.illegible()).not.toEqual([])
  expect(page.complaints).toEqual([])
})

test('a second signal ends it by force, and the page says so', async () => {
  const server = Served.serve('--shutdown-delay-duration=0s', '--deadline=30s')
  const page = await InspectorPage.open(await server.inspector)
  await page.headline(/^Serving$/)
  await server.request('/slow?ms=60000')
  await page.reads('#outcome-headline', /1 request/)
  server.child.kill('SIGTERM')
  // Signals within half a second count as one: the machine says when it is ready for the second.
  await page.shows('second-signal', 'armed')
  server.child.kill('SIGTERM')
  await page.headline(/^Ended by force, exit code 1$/)
  await page.reads(
    '#life-status-detail',
    /because a second signal asked for the end at once\. The server is gone; its final state and report stay here\.$/,
  )
  expect(await server.exitCode).toBe(1)
  expect(page.complaints).toEqual([])
})

test('a server that vanishes is called lost, and found again when it comes back', async () => {
  const first = Served.serve()
  const address = await first.inspector
  const page = await InspectorPage.open(address)
  await page.headline(/^Serving$/)
  first.child.kill('SIGKILL')
  await page.headline(/^Connection lost without a report$/)
  await page.reads('#life-status-detail', /^Last heard of while it was serving\. .* Trying again \(\d+\)\.$/)
  await first.exitCode
  const title = await page.text('#life-title')
  const second = Served.serve(`--inspector-address=${new URL(address).host}`)
  await page.headline(/^Serving$/)
  expect(await page.text('#life-title')).not.toBe(title)
  second.child.kill('SIGTERM')
  await page.headline(/^Graceful: everything ended by itself, exit code 0$/)
  expect(page.complaints).toEqual([])
})

test('a recorded life is replayed: by key, by slider, by a line of the log, and in real time', async () => {
  const folder = temporaryFolder()
  const [journal, report] = [join(folder, 'journal.ndjson'), join(folder, 'report.json')]
  const server = Served.serve('--shutdown-delay-duration=1s', '--deadline=20s', `--journal=${journal}`, `--report-file=${report}`)
  await server.url
  server.child.kill('SIGTERM')
  expect(await server.exitCode).toBe(0)

  const page = await InspectorPage.open(await Served.recording(journal).inspector)
  await page.headline(/^Graceful: everything ended by itself, exit code 0$/)
  await page.reads('#life-status-detail', /This is a recording\.$/)
  expect(await page.button('Begin shutdown…').isVisible()).toBe(false)
  const { keyboard } = page.page

  await keyboard.press('Home')
  await page.headline(/^Starting$/)
  await page.reads('#position', / 1 of \d+$/)
  await keyboard.press('Shift+ArrowRight')
  await page.reads('#log-body [aria-current]', /signal\s+Start$/)
  await keyboard.press('ArrowRight')
  await keyboard.press('ArrowLeft')
  await page.reads('#log-body [aria-current]', /signal\s+Start$/)

  // A search, and a line of what it finds.
  await keyboard.press('End')
  // The log is at its end, too.
  await page.reads('#log-body li:last-child', /report, exit code 0/)
  await keyboard.press('/')
  await keyboard.type('signal stoprequested sigterm')
  await page.reads('#log-count', /^1 of/)
  await page.page.locator('#log-body button', { hasText: 'StopRequested' }).click()
  await page.headline(/^Shutting down: /)
  // What came later is still there.
  await page.page.locator('#log-text').fill('')
  await page.reads('#log-count', /^\d\d+ of/)
  await page.page.evaluate(`document.getElementById('log-body').scrollTop = 1e6`)
  await page.reads('#log-body .later:last-child', /report, exit code 0/)
  await page.reads('#position', /^\+0\.000s/)
  expect(await page.row('shutdown-delay')).toMatch(/^shutdown-delay: waiting for ShutdownInitiated/)
  expect(await page.page.locator('#scrubber').getAttribute('aria-valuetext')).toMatch(
    /^\+0\.000s, entry \d+ of \d+: signal: StopRequested by SIGTERM$/,
  )

  await page.page.locator('#speed').selectOption('0.25')
  await page.button('Play').click()
  await page.reads('#life-status-detail', /shutdown-delay/)
  await page.page.locator('#speed').selectOption('4')
  await page.headline(/^Graceful: everything ended by itself, exit code 0$/)
  await page.button('Play').waitFor()
  await page.page.locator('#scrubber').fill('0')
  await page.headline(/^Starting$/)
  expect(page.complaints).toEqual([])
  // Offline: nothing is asked of another host.
  expect([...page.hosts]).toEqual([new URL(page.page.url()).host])

  const summary = await InspectorPage.open(await Served.recording(report).inspector)
  await summary.headline(/^Graceful: everything ended by itself, exit code 0$/)
  expect(await summary.row('shutdown-delay')).toMatch(/^shutdown-delay: ok after [\d.]+m?s/)
  await summary.reads('#report-body', /stopped by\s+SIGTERM/)
  await summary.reads('#machines-body', /^A report names no machines; a journal does\.$/)
  await summary.reads('#chart-note', /^A report has no machines: how each phase has ended is shown, but no states\.$/)
  await summary.region('shutdown-delay', '.ok').waitFor()
  expect(summary.complaints).toEqual([])
})
