import { inflatedBrowser } from '../../scripts/browser.mjs'

/**
 * Vitest's global set-up, which runs once and before all workers: the browser of the tests is whole
 * before any of them starts it. Two seconds after an install, free from then on.
 */
export default function browser(): void {
  inflatedBrowser()
}
