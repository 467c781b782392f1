/** The door for programs: published, it is `quiesce/engine/command`. */
export * from '../../../../src/engine/command.ts'
