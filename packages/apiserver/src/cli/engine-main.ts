/** The door for programs: published, it is `quiesce/engine/main`. */
export * from '../../../../src/engine/main.ts'
