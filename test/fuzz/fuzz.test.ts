// Fails when: a request of any kind crashes or hangs an API server with every filter on, is told
// what another client has sent, comes to what is private, or is answered with a status that is not
// right. A short run of `npm run fuzz:apiserver`.
import { expect, onTestFinished, test } from 'vitest'
import { seed } from '../support/seed.ts'
import { ATTACKS } from './attacks.mjs'
import { attackFor, type Failure } from './play.mjs'
import { Target } from './target.mjs'

const MS = 3000

test('hostile requests crash nothing, leak nothing and are answered rightly', async () => {
  const target = await Target.start()
  onTestFinished(() => target.dispose())
  const failures: Failure[] = []
  const counts = await attackFor({ ports: target.ports, seed, ms: MS, failed: (failure) => void failures.push(failure) })
  const { wrong } = await target.stop()
  expect({ failures, wrong }).toEqual({ failures: [], wrong: [] })
  expect(counts.size).toBeGreaterThan(Object.keys(ATTACKS).length / 2)
})
