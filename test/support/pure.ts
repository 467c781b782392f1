/**
 * Tests of code without sockets and processes, by the folder that they are in. They work more than
 * they wait, and need nothing that is built.
 */
export const PURE = /\/test\/(base|diagram|differential|machines|metrics|model|options|report|terminal|tidy)\//
