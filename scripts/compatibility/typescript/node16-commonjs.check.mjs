// `node16`, from CommonJS
// packages: typescript-5.4, typescript-5.9, typescript-6.0, typescript-7.0
// set: typescript
// variants: TypeScript 5.4; TypeScript 6.0; TypeScript 7.0
import { checkTypes } from '../types.mjs'

/** @param {import('../../compatibility.mjs').Cell} cell */
export default (cell) => checkTypes(cell, { module: 'node16', moduleResolution: 'node16' }, 'cts')
