/** The one door to the core: published, it is `quiesce/engine`. */
export * from '../../../src/engine/index.ts'
