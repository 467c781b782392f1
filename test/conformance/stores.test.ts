// One suite over every engine that keeps what API groups store. Fails when: a write is done on
// another revision than it expects, a revision is used twice, a read is not of one revision, a
// watch misses a change or gets one twice, or what is compacted or closed is not said to be.
import { mkdtemp, rm } from 'node:fs/promises'
import { isBuiltin } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileEngine } from '#apiserver/store/file-engine.ts'
import { memoryEngine } from '#apiserver/store/memory-engine.ts'
import { storeSuite } from './store-suite.ts'

storeSuite({ name: 'memory', place: async () => ({ engine: () => memoryEngine(), dispose: async () => {} }), survives: false })

// `npm run test:storage` has a Node that has it.
if (isBuiltin('node:sqlite'))
  storeSuite({
    name: 'a file',
    place: async () => {
      const folder = await mkdtemp(join(tmpdir(), 'quiesce-store-'))
      return { engine: () => fileEngine({ path: join(folder, 'store.db') }), dispose: () => rm(folder, { recursive: true, force: true }) }
    },
    survives: true,
  })
