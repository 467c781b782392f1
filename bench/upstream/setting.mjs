// @ts-check
/**
 * What both servers are started with.
 * @typedef {object} Setting
 * @property {number} port
 * @property {string} cert a PEM file
 * @property {string} key a PEM file
 * @property {string} tokens a CSV file
 * @property {string} audit file of the audit log; empty: nothing is audited
 */
/** The user whom both authorizers let do everything. */
export const TOKEN = 'of-the-benchmark'
export const TOKENS_CSV = `${TOKEN},bench,1,"readers"\n`

const FLUNDERS = '/apis/wardle.example.com/v1alpha1/namespaces'
export const collection = (/** @type {string} */ namespace) => `${FLUNDERS}/${namespace}/flunders`

/** @param {string} name @param {string} reference */
export const flunder = (name, reference) => ({
  apiVersion: 'wardle.example.com/v1alpha1',
  kind: 'Flunder',
  metadata: { name, labels: { app: 'bench', number: name } },
  spec: { reference, referenceType: 'Flunder' },
})
