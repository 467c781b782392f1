// @ts-check
/** Mutants that nothing can tell from the original, and why. @type {readonly { readonly mutants: RegExp, readonly why: string }[]} */
export const EQUIVALENT = []
