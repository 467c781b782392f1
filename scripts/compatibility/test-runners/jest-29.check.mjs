// Jest 29
// packages: jest, ts-jest
// set: jest-29
// variants: as it comes; ts-jest
import { checkJest } from '../jest.mjs'

/** @param {import('../../compatibility.mjs').Cell} cell */
export default (cell) => checkJest(cell)
