import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { Composition } from '../machines/lifecycle.ts'

/** The chart of a life as SVG, drawn when it is first asked for, and not in the thread that serves. */
export class Chart {
  readonly #composition: () => Composition
  #svg: Promise<string> | undefined

  constructor(composition: () => Composition) {
    this.#composition = composition
  }

  /** Rejects as {@link lifecycleSvg}; the next call tries again. */
  svg(): Promise<string> {
    this.#svg ??= draw(this.#composition()).catch((error: unknown) => {
      this.#svg = undefined
      throw error
    })
    return this.#svg
  }
}

async function draw(composition: Composition): Promise<string> {
  const worker = new Worker(new URL('./chart-worker.js', import.meta.url), { workerData: composition })
  // It ends by itself; a life that ends earlier does not wait for it.
  worker.unref()
  const [svg] = (await once(worker, 'message')) as [string]
  return svg
}
