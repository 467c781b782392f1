/**
 * The engine, for programs of the command line: what runs first, and so loads next to nothing. Its
 * stability is that of `quiesce/engine`.
 */
export { type Program, runProgram } from '../cli/program.ts'
