import { relative } from 'node:path'

/**
 * Tests of code without sockets and processes, by the folder that they are in. They work more than
 * they wait, and need nothing that is built.
 */
const PURE = /^test\/(base|diagram|machines|model|options|random|report|tidy)\//

export const isPure = (path: string): boolean => PURE.test(relative(process.cwd(), path))
