import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest'
import { browserLaunch } from '../../scripts/browser.mjs'

/** A headless Chromium from npm, one for all tests of a file; each test has pages of its own. */

let browser: Browser | undefined
export function useBrowser(): void {
  beforeAll(async () => {
    browser = await chromium.launch(browserLaunch())
  })
  afterAll(() => browser?.close())
}

/** A page, and what the browser complains about there. */
export async function openPage(url: string, options: BrowserContextOptions = {}): Promise<{ page: Page; complaints: string[] }> {
  if (!browser) throw new Error('useBrowser() first')
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, reducedMotion: 'reduce', ...options })
  onTestFinished(() => context.close())
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text())
  })
  await page.goto(url)
  return { page, complaints }
}

/** A picture in a page of its own: as an image, in which no script runs, or as the page itself. */
export async function pictureIn(svg: Buffer, as: 'image' | 'page', options: BrowserContextOptions = {}): Promise<Page> {
  if (!browser) throw new Error('useBrowser() first')
  const context = await browser.newContext({ viewport: { width: 880, height: 420 }, ...options })
  onTestFinished(() => context.close())
  const page = await context.newPage()
  const url = `data:image/svg+xml;base64,${svg.toString('base64')}`
  if (as === 'page') await page.goto(url)
  else {
    await page.setContent(`<img src="${url}" alt="">`)
    await page.waitForFunction('document.images[0].complete && document.images[0].naturalWidth > 0')
  }
  return page
}

/** The inspector's page as a person has it: what it reads, and what it does. */
export class InspectorPage {
  readonly page: Page
  /**
   * What the browser has complained about: errors of scripts, and what the policy of the page's
   * content has refused.
   */
  readonly complaints: string[] = []
  /** Hosts that something was asked of. */
  readonly hosts = new Set<string>()

  static async open(url: string, options: BrowserContextOptions = {}): Promise<InspectorPage> {
    if (!browser) throw new Error('useBrowser() first')
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, reducedMotion: 'reduce', ...options })
    onTestFinished(() => context.close())
    const opened = new InspectorPage(await context.newPage())
    await opened.page.goto(url)
    return opened
  }

  private constructor(page: Page) {
    this.page = page
    page.on('request', (request) => this.hosts.add(new URL(request.url()).host))
    page.on('pageerror', (error) => this.complaints.push(error.message))
    // A server that is gone refuses connections, which the browser mentions.
    page.on('console', (message) => {
      if (message.type() === 'error' && !message.text().includes('net::ERR_')) this.complaints.push(message.text())
    })
  }

  text(selector: string): Promise<string> {
    return this.page.locator(selector).first().innerText()
  }

  /** Waits until an element reads so. */
  async reads(selector: string, pattern: RegExp, timeoutMs = 30_000): Promise<void> {
    await expect.poll(() => this.text(selector), { timeout: timeoutMs, interval: 50 }).toMatch(pattern)
  }

  headline(pattern: RegExp): Promise<void> {
    return this.reads('h1', pattern)
  }

  /** A row of the timeline, as it is read out. */
  async row(name: string): Promise<string | null> {
    const row = this.page.locator('.gantt [role=row]', { has: this.page.getByText(name, { exact: true }) }).first()
    // Rows that are far from being seen are not there.
    for (let pages = 0; (await row.count()) === 0 && pages < 10; pages++) {
      await this.page.evaluate(`(() => {
        const body = document.getElementById('timeline-body')
        body.scrollTop = ${pages} * body.clientHeight
        return new Promise(requestAnimationFrame)
      })()`)
    }
    return row.getAttribute('title')
  }

  button(name: string) {
    return this.page.getByRole('button', { name, exact: true })
  }

  /** Waits until a region of the chart is in a state, and stands so. */
  shows(region: string, now: string, standing = ''): Promise<void> {
    return this.region(region, `[data-now="${now}"]${standing && `.${standing}`}`).waitFor({ timeout: 30_000 })
  }

  region(name: string, more = '') {
    return this.page.locator(`[data-state="${name}"]${more}`).first()
  }

  /** Where everything stands that must not move: the panels, and the rows of the phases. */
  places(): Promise<unknown> {
    return this.page.evaluate(PLACES)
  }

  /** Words of the timeline that stand on others, or on bars, and those that are cut. */
  async illegible(): Promise<unknown[]> {
    return [...(await this.page.evaluate<unknown[]>(OVERLAPPING)), ...(await this.page.evaluate<unknown[]>(CUT_SHORT))]
  }

  /**
   * Texts have contrast, controls have names and a size, landmarks differ, and nothing is wider
   * than the screen.
   */
  async isFitForEverybody(): Promise<void> {
    expect(await this.page.evaluate(LOW_CONTRAST)).toEqual([])
    expect(await this.page.evaluate(NAMELESS)).toEqual([])
    expect(await this.page.evaluate(SMALL)).toEqual([])
    expect(await this.page.evaluate(SAME_LANDMARKS)).toEqual([])
    expect(await this.page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')).toBe(0)
  }
}

const PLACES = `[...document.querySelectorAll('header, .budget, .panel, .panel-head, footer, .gantt .phase')]
  .map((element) => {
    const { x, y, width, height } = element.getBoundingClientRect()
    return (element.id || element.className || element.tagName) + ' ' + [x, y, width, height].map(Math.round).join(' ')
  })`

/**
 * Texts whose contrast is below 4.5 to 1, the AA of WCAG for small text. What cannot be used may be
 * paler.
 */
const LOW_CONTRAST = `(() => {
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true })
  const rgba = (color) => {
    canvas.clearRect(0, 0, 1, 1)
    canvas.fillStyle = color
    canvas.fillRect(0, 0, 1, 1)
    return [...canvas.getImageData(0, 0, 1, 1).data]
  }
  const luminance = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((c) => c / 255).map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
    return 0.2126 * x + 0.7152 * y + 0.0722 * z
  }
  const groundOf = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const color = rgba(getComputedStyle(at).backgroundColor)
      if (color[3] === 255) return color
    }
    return rgba(getComputedStyle(document.body).backgroundColor)
  }
  const low = new Set()
  for (const element of document.querySelectorAll('body *')) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== '')
    if (!own || !element.checkVisibility() || element.closest(':disabled, noscript')) continue
    const [a, b] = [luminance(rgba(getComputedStyle(element).color)), luminance(groundOf(element))]
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)
    if (contrast < 4.5) low.add(element.className + ' "' + element.textContent.slice(0, 30) + '" ' + contrast.toFixed(2))
  }
  return [...low]
})()`

/** Controls without a name for users who do not see them. */
const NAMELESS = `[...document.querySelectorAll('button, input, select, summary, [role=region]')]
  .filter((control) => control.checkVisibility())
  .filter((control) => {
    const labelled = control.getAttribute('aria-label') ?? document.getElementById(control.getAttribute('aria-labelledby') ?? '')?.textContent
    return !(labelled || control.textContent.trim() || control.labels?.[0]?.textContent.trim())
  })
  .map((control) => control.outerHTML)`

/**
 * Controls that a finger misses: below 24 pixels, the AA of WCAG 2.2. A native choice in a label is
 * as large as that.
 */
const SMALL = `[...document.querySelectorAll('button, summary, select, input[type=range], input[type=search], label.choice')]
  .filter((control) => control.checkVisibility())
  .filter((control) => control.getBoundingClientRect().height < 24)
  .map((control) => control.outerHTML.slice(0, 120))`

/** Names of landmarks that are there twice. */
const SAME_LANDMARKS = `(() => {
  const names = [...document.querySelectorAll('section[aria-labelledby], [role=region], [role=search], footer[aria-label]')].map(
    (landmark) => landmark.getAttribute('aria-label') ?? landmark.getAttribute('aria-labelledby'),
  )
  return names.filter((name, i) => names.indexOf(name) !== i)
})()`

/**
 * Words and bars of the timeline that stand on each other: names of signals, of cuts and times, the
 * rows' own names and notes. Bars are compared with what stands in their rows.
 */
const OVERLAPPING = `(() => {
  const box = (element) => {
    const { left, right, top, bottom } = element.getBoundingClientRect()
    return { left, right, top, bottom, name: element.className + ' "' + element.textContent + '"' }
  }
  const seen = (selector) => [...document.querySelectorAll(selector)].filter((element) => element.checkVisibility()).map(box)
  const boxes = [
    ...seen('.axis-name'),
    ...[...document.querySelectorAll('.rows .row')].flatMap((row) =>
      [...row.querySelectorAll('.label, .note, .mark-word, .bar')].filter((element) => element.checkVisibility()).map(box),
    ),
    ...seen('.load-row .label, .load-row .most, .load-row .note'),
  ]
  const over = (a, b) => a.left < b.right - 0.5 && b.left < a.right - 0.5 && a.top < b.bottom - 0.5 && b.top < a.bottom - 0.5
  const scroll = document.getElementById('timeline-body').getBoundingClientRect()
  const head = document.querySelector('.axis').getBoundingClientRect().bottom
  // What has gone under the head is not seen.
  const visible = boxes.filter((one) => one.bottom < scroll.bottom && (one.top >= head || one.name.startsWith('axis-name')))
  return visible.flatMap((one, i) => visible.slice(i + 1).filter((other) => over(one, other)).map((other) => one.name + ' on ' + other.name))
})()`

/** Names that are cut. */
const CUT_SHORT = `[...document.querySelectorAll('.rows .label, .load-row .label, .mark-word, .cut-name')]
  .filter((element) => element.checkVisibility() && element.scrollWidth > element.clientWidth + 1)
  .map((element) => element.textContent)`
