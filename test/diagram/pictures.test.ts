// The pictures of a life hold what its machines hold, and can be read. Fails when a state or a
// transition is not drawn, when a signal is not shown where it is heard, when two texts overlap, or
// when a line runs through a text.
import { describe, expect, test } from 'vitest'
import type { AnyStateNode } from 'xstate'
import { batchesMachine } from '#apiserver/audit/batches.ts'
import { electionMachine } from '#apiserver/leases/election.ts'
import { storeMachine } from '#apiserver/store/store-machine.ts'
import { createServer } from '#src/create-server.ts'
import { elkLayout } from '#src/diagram/elk-layout.ts'
import { diagramsOf, lifecycleSvg, machineSvg } from '#src/diagram/index.ts'
import { composeLifecycle, type LifePlan } from '#src/machines/lifecycle.ts'
import type { Mode } from '#src/machines/wiring.ts'
import { planOf } from '#src/model/life/lifecycle-model.ts'
import { nodesOf, raisesOf } from '../support/machine-walk.ts'
import { collisions, edgesIn, outside, sizeOf, statesIn, textsOf } from './svg-reading.ts'

function bare(mode: Mode): LifePlan {
  return planOf(createServer({ listener: () => {} }, { logger: false, platform: 'kubernetes', whileDraining: mode }))
}

/**
 * Everything that a user can add, with names that xstate, XML and Mermaid read in their own ways.
 */
function crowded(mode: Mode): LifePlan {
  const server = createServer({ listener: () => {} }, { logger: false, platform: 'pm2', whileDraining: mode })
  for (const name of ['warm-cache', 'informers of <v1> & "v2"', 'a.b#c*', 'x', 'y', 'z']) server.addPostStartHook(name, () => {})
  server.addPreShutdownHook('leave', () => {})
  server.addDestroy('pool', () => {})
  server.addMuxCompleteSignal('apis', new Promise(() => {}))
  server.addMuxCompleteSignal('discovery.v1', new Promise(() => {}))
  server.addPhase('flush-queue', () => {}, { after: ['RequestsDrained'], before: ['destroy'] })
  server.addPhase('warm-up', () => {}, { after: ['AuditRunning'], before: ['serve'] })
  server.addPhase('say-goodbye', () => {}, { after: ['flush-queue', 'ShutdownInitiated'] })
  return planOf(server)
}

const LIVES: [string, LifePlan][] = [
  ['refuse', bare('refuse')],
  ['retry-after', bare('retry-after')],
  ['refuse, crowded', crowded('refuse')],
  ['retry-after, crowded', crowded('retry-after')],
]
const README_WIDTH = 1_010

describe.each(LIVES)('the life (%s)', (_, plan) => {
  const machine = composeLifecycle(plan)
  const nodes = nodesOf(machine.root)
  const svg = lifecycleSvg(plan)
  const edges = new Set(edgesIn(svg))

  test('has every state once', () => {
    expect(statesIn(svg).sort()).toEqual(nodes.map(({ id }) => id).sort())
  })

  test('has every transition', () => {
    const expected = nodes.flatMap((node) =>
      [...node.transitions.values(), node.always ?? []]
        .flat()
        .flatMap(({ target, eventType }) => (target ?? [node]).map((to) => `${node.id}|${eventType}|${to.id}`)),
    )
    expect(expected.filter((edge) => !edges.has(edge))).toEqual([])
    expect(expected.length).toBeGreaterThan(100)
  })

  test('has every signal, from who raises it to everybody who hears it', () => {
    const raised = raisesOf(machine)
    const missing = nodes.flatMap((node) =>
      [...node.transitions.keys()]
        .filter((event) => raised.has(event))
        .map((event) => `|${event}|${node.id}`)
        .filter((end) => ![...edges].some((edge) => edge.endsWith(end) && edge !== `${node.id}${end}`)),
    )
    expect(missing).toEqual([])
  })

  test('names only states that exist', () => {
    const known = new Set(nodes.map(({ id }) => id))
    const strange = [...edges].filter(
      (edge) => !known.has(edge.slice(0, edge.indexOf('|'))) || !known.has(edge.slice(edge.lastIndexOf('|') + 1)),
    )
    expect(strange).toEqual([])
  })

  test('is the same every time', () => {
    expect(lifecycleSvg(plan)).toBe(svg)
  })
})

test.each(LIVES)('the life is as wide as a document (%s)', (_, plan) => {
  // Signals that pass by a row have a track of their own beside it: the user's phases bring some.
  const tracks = 50 * (plan.userPhases?.length ?? 0)
  expect(sizeOf(lifecycleSvg(plan)).width).toBeLessThanOrEqual(README_WIDTH + tracks)
})

describe.each(LIVES)('the pictures (%s)', (_, plan) => {
  test.each(plan.mode === 'refuse' ? ['elkjs', 'simple rules'] : ['simple rules'])(
    'have no overlapping texts and no line through a text, laid out by %s',
    async (by) => {
      const diagrams = await diagramsOf(plan, { format: 'svg', ...(by === 'elkjs' && { layout: await elkLayout() }) })
      expect(diagrams.map(({ name }) => name)).toContain('machines/watch-drain')
      for (const { name, text } of diagrams) {
        expect([name, textsOf(text).length]).toEqual([name, expect.toSatisfy((count: number) => count > 3)])
        expect([name, collisions(text)]).toEqual([name, []])
        expect([name, outside(text)]).toEqual([name, []])
      }
    },
  )

  test('as Mermaid declare every name they use, and the whole life every state', async () => {
    let drawn = 0
    for (const { name, text } of await diagramsOf(plan, { format: 'mermaid' })) {
      const [head, ...lines] = text
        .replace(/^---\n.*\n---\n/s, '')
        .trimEnd()
        .split('\n')
      expect(['flowchart TD', 'sequenceDiagram', 'stateDiagram-v2']).toContain(head)
      const declared = new Set(
        lines.flatMap(
          (line) =>
            /^\s*(?:participant (\w+)|subgraph (\w+)\[|state ".*" as (\w+) \{|([ns]\d+)(?:\[|\(| : (?!.*-->)))/
              .exec(line)
              ?.slice(1)
              .filter(Boolean) ?? [],
        ),
      )
      const used = lines.flatMap(
        (line) => /^\s*([a-z]\w*) *(?:--?>>?[+-]?|-->|-\.->|~~~)(?:\|".*"\|)? *([a-z]\w*)/.exec(line)?.slice(1) ?? [],
      )
      expect([name, used.filter((word) => !declared.has(word))]).toEqual([name, []])
      expect([name, used.length]).toEqual([name, expect.toSatisfy((count: number) => count > 0)])
      if (name.startsWith('lifecycle')) drawn += declared.size
    }
    const running = composeLifecycle(plan).root.states['running'] as AnyStateNode
    expect(drawn).toBe(nodesOf(running).length - 1)
  })
})

test('names are written as their users wrote them', async () => {
  const plan = crowded('refuse')
  const all = await diagramsOf(plan, { format: 'svg' })
  const written = all.flatMap(({ text }) => textsOf(text).map(({ text: words }) => words))
  expect(written).toEqual(expect.arrayContaining(['waits for apis, discovery.v1', 'a.b#c*', 'informers of <v1> & "v2"']))
  expect(written.filter((words) => words.includes('%'))).toEqual([])
})

test('names are no Markdown, which Mermaid reads in labels', async () => {
  const server = createServer({ listener: () => {} }, { logger: false })
  const names = ['`a`', '**b**', '__c__', '$$d$$', 'e\\nf', '&lt;g']
  for (const name of names) server.addPhase(name, () => {}, { after: ['RequestsDrained'] })
  for (const { name, text } of await diagramsOf(planOf(server), { format: 'mermaid' })) {
    // Where a machine begins and ends.
    expect([name, /[`*_\\$&]/.exec(text.replaceAll('[*]', ''))]).toEqual([name, null])
    if (name !== 'wiring') continue
    const read = text.replace(/#(\d+);/g, (_, code) => String.fromCharCode(Number(code)))
    for (const written of names) expect(read).toContain(`["${written}<br/>`)
  }
})

test('a key explains what is drawn, and nothing else', async () => {
  const all = await diagramsOf(bare('refuse'), { format: 'svg' })
  const wordsOf = (name: string): string[] => textsOf(all.find((diagram) => diagram.name === name)?.text ?? '').map(({ text }) => text)
  expect(wordsOf('machines/budget')).toContain('the time of this cut has come')
  expect(wordsOf('machines/budget')).not.toContain('the stop came before its turn')
  expect(wordsOf('lifecycle')).toContain('the stop came before its turn')
  expect(wordsOf('machines/close-listener')).not.toContain('a signal of our own, to what waits for it')
})

test('the checks see an overlap, a line through a text and a text outside', () => {
  const svg = `<svg width="100" height="50">
<text class="title" x="10" y="20" textLength="40">one</text>
<text class="title" x="45" y="20" textLength="40">two</text>
<path d="M0 40L100 40"/><path d="M20 0L20 50"/>
<text class="title" x="80" y="44" textLength="40">three</text></svg>`
  expect(collisions(svg)).toEqual(['"one" and "two"', '"one" and a line at 20, 0', '"three" and a line at 0, 40'])
  expect(outside(svg)).toEqual(['three'])
})

test('without elkjs its layout is refused, by name and with what to do', async () => {
  await expect(elkLayout(() => Promise.reject(new Error('not found')))).rejects.toMatchObject({
    code: 'ERR_DEPENDENCY_MISSING',
    message: expect.stringContaining('npm install elkjs'),
  })
})

test.each([
  ['audit-batches', batchesMachine],
  ['store', storeMachine],
  ['leader-election', electionMachine],
])('a machine that works beside the life has every state, and no text over another: %s', async (called, machine) => {
  const { name, text } = await machineSvg(machine, { notes: [], layout: await elkLayout() })
  expect(name).toBe(`machines/${called}`)
  expect(statesIn(text).sort()).toEqual(
    nodesOf(machine.root)
      .map(({ id }) => id)
      .sort(),
  )
  expect(collisions(text)).toEqual([])
})
