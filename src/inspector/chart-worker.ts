import { parentPort, workerData } from 'node:worker_threads'
import { lifecycleSvg } from '../diagram/index.ts'
import type { Composition } from '../machines/lifecycle.ts'

/** Draws the chart in a thread of its own: it takes time in which the server would answer nobody. */
parentPort?.postMessage(lifecycleSvg(workerData as Composition))
