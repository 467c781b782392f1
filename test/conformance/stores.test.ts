// One suite over every engine that keeps what API groups store. Fails when: a write is done on
// another revision than it expects, a revision is used twice, a read is not of one revision, a
// watch misses a change or gets one twice, or what is compacted or closed is not said to be.
import { memoryEngine } from '#apiserver/store/memory-engine.ts'
import { storeSuite } from './store-suite.ts'

storeSuite({ name: 'memory', place: async () => ({ engine: () => memoryEngine(), dispose: async () => {} }), survives: false })
