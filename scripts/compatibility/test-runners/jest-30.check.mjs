// Jest 30
// packages: jest, ts-jest
// variants: as it comes; ts-jest; transforming all packages
import { checkJest } from '../jest.mjs'

/** @param {import('../../compatibility.mjs').Cell} cell */
export default (cell) => checkJest(cell)
