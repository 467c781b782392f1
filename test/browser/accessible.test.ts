import { AxeBuilder } from '@axe-core/playwright'
import { expect, test } from 'vitest'
import { InspectorPage, useBrowser } from './pages.ts'
import { Served } from './served.ts'

/** What axe-core finds on the inspector's page: nothing, at any size, light or dark. */

useBrowser()

const SIZES = [
  { width: 360, height: 740 },
  { width: 768, height: 1024 },
  { width: 1280, height: 800 },
  { width: 1920, height: 1080 },
]
/** Colours are the same at each size. */
const SIZES_OF = { light: SIZES, dark: SIZES.filter((_, at) => at === 0 || at === SIZES.length - 1) }

/** Some seconds for each look, on a machine that has other things to do. */
const TEST_MS = 240_000

test.each(['light', 'dark'] as const)(
  'axe finds nothing on it, while it serves and when it is over: %s',
  { timeout: TEST_MS },
  async (colorScheme) => {
    const server = Served.program('server.mjs', {
      options: { platform: 'unknown', shutdownDelay: 0, inspector: true },
      hooks: [{ kind: 'pre-shutdown', name: 'leave', does: 'rejects', ms: 10 }],
    })
    const page = await InspectorPage.open(await server.inspector, { colorScheme })
    const found = async (): Promise<string[]> => {
      const { violations } = await new AxeBuilder({ page: page.page })
        .setLegacyMode(true)
        .options({ resultTypes: ['violations'] })
        .analyze()
      return violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id}: ${String(target)}`))
    }
    await page.headline(/^Serving$/)
    await page.shows('stop', 'living')
    for (const size of SIZES_OF[colorScheme]) {
      await page.page.setViewportSize(size)
      expect({ size, found: await found() }).toEqual({ size, found: [] })
    }
    server.child.kill('SIGTERM')
    await page.headline(/, exit code 4$/)
    for (const size of SIZES.slice(0, 1)) {
      await page.page.setViewportSize(size)
      expect({ size, found: await found() }).toEqual({ size, found: [] })
    }
    // It would have said so.
    await page.page.evaluate(`document.getElementById('scrubber').removeAttribute('aria-label')`)
    expect(await found()).toEqual(['label: #scrubber'])
  },
)
