import { describe, expect, test } from 'vitest'
import { timeoutOf } from '#apiserver/chain/request-deadline.ts'
import { parseGoDuration } from '#apiserver/go-duration.ts'
import { queryValue } from '#src/base/go-query.ts'
import { row } from '../support/row.ts'

const wrong = (error: string) => ({ error })

describe('a duration as Go writes it', () => {
  test.each([
    ['0', 0],
    ['+5s', 5_000],
    ['-1s', -1_000],
    ['1h15m30.918s', 4_530_918],
    ['1.5h', 5_400_000],
    ['.5s', 500],
    ['5.s', 5_000],
    ['100us', 0.1],
    ['10000000ns', 10],
    ['\u00c2\u00b5s', wrong('time: invalid duration "\\xc2\\xb5s"')],
    ['1\u00c2\u00b5s', 1e-3],
    ['1\u00ce\u00bcs', 1e-3],
    ['1h1h', 7_200_000],
    ['9223372036854775807ns', 9_223_372_036_854.775],
    ['9223372036854775808ns', wrong('time: invalid duration "9223372036854775808ns"')],
    ['-9223372036854775808ns', -9_223_372_036_854.775],
    ['', wrong('time: invalid duration ""')],
    ['foo', wrong('time: invalid duration "foo"')],
    ['1', wrong('time: missing unit in duration "1"')],
    ['1.', wrong('time: missing unit in duration "1."')],
    ['.s', wrong('time: invalid duration ".s"')],
    ['-', wrong('time: invalid duration "-"')],
    ['1d', wrong('time: unknown unit "d" in duration "1d"')],
    ['1S', wrong('time: unknown unit "S" in duration "1S"')],
    ['1s "x\\', wrong('time: unknown unit "s \\"x\\\\" in duration "1s \\"x\\\\"')],
    ['1\u00e9', wrong('time: unknown unit "\\xe9" in duration "1\\xe9"')],
    ['1constructor', wrong('time: unknown unit "constructor" in duration "1constructor"')],
  ])('%j', (text, expected) => {
    expect(parseGoDuration(text)).toEqual(typeof expected === 'number' ? expect.closeTo(expected, 2) : expected)
  })
})

describe('a parameter of a query', () => {
  test.each([
    ['/a', ''],
    ['/timeout', ''],
    ['/a?timeout', ''],
    ['/a?timeout=1s&timeout=2s', '1s'],
    ['/a?x=timeout&timeout=2s', '2s'],
    ['/a?time%6fut=1s', '1s'],
    ['/a?timeout=1%73', '1s'],
    ['/a?timeout=1+s', '1 s'],
    ['/a?timeout=%zz', ''],
    ['/a?timeout=%zz&timeout=3s', '3s'],
    ['/a?timeout=1s;x=2', ''],
    ['/a?timeout=1s#timeout=2s', '1s#timeout=2s'],
  ])('%s', (url, value) => {
    expect(queryValue(url, 'timeout')).toBe(value)
  })
})

row('RD-12', 'what a request asks for: nothing, a time, none, or what is wrong with it', () => {
  expect(['/?timeout=', '/?timeout=10s', '/?timeout=0s'].map(timeoutOf)).toEqual([undefined, 10_000, 0])
  expect(timeoutOf('/?timeout=foo')).toEqual(wrong('invalid timeout specified in the request URL - time: invalid duration "foo"'))
})
