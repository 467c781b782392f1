import { expect } from 'vitest'
import type { phaseScene } from './fake-effects.ts'

type Scene = Awaited<ReturnType<typeof phaseScene>>

/**
 * What a phase machine could meet by mistake: its own events at the wrong time, the root's, and
 * answers of strangers.
 */
const ALPHABET = [
  'cut',
  'start',
  'StopRequested',
  'Cut.hooks',
  'Forced',
  'process.signalled',
  'xstate.done.actor.stranger',
  'constructor',
  '',
]

/**
 * Sends every event that is not legal in the current state: none may move the machine or call an
 * effect.
 */
export async function expectOnly(scene: Scene, ...legal: readonly string[]): Promise<void> {
  for (const type of legal) expect(scene.actor.getSnapshot().can({ type }), `${type} is legal in ${JSON.stringify(scene.state)}`).toBe(true)
  const before = { state: scene.state, context: scene.actor.getSnapshot().context, calls: scene.effects.called, facts: [...scene.facts] }
  const active = scene.actor.getSnapshot().status === 'active'
  for (const type of ALPHABET) {
    if (legal.includes(type)) continue
    // An actor that has ended drops what it is sent, with a warning on the console; the machine
    // itself is asked instead.
    if (active) await scene.send({ type })
    else expect(scene.actor.getSnapshot().can({ type }), `${type} moves nothing in ${JSON.stringify(scene.state)}`).toBe(false)
  }
  expect({ state: scene.state, context: scene.actor.getSnapshot().context, calls: scene.effects.called, facts: scene.facts }).toEqual(
    before,
  )
}
