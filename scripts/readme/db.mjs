// @ts-check
// The pool of docs/migration.md's programs.
export const db = {
  ping: async () => {},
  warm: async () => {},
  close: async () => {},
}
