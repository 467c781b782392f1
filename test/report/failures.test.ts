// Fails when: one failure that passes several places is listed for each, or being listed again
// makes it forget how often it came.
import { expect, test } from 'vitest'
import { withoutName } from '#src/base/without-name.ts'
import { Failures } from '#src/report/failures.ts'

test('one failure is listed where it was first seen, with a stack or without', () => {
  const failures = new Failures()
  const bare = { name: 'Error', message: 'no stack' }
  const boom = { name: 'Error', message: 'boom', stack: 'Error: boom\n    at hook' }
  for (const error of [bare, boom]) for (const where of ['hook', 'phase']) failures.add(where, error)
  // Read anew, as from another process: the stack is the same.
  failures.add('start', { ...boom })
  expect(failures.list()).toEqual([
    { where: 'hook', error: bare },
    { where: 'hook', error: boom },
  ])
})

test('how often a failure came is kept when it is seen on its way', () => {
  const failures = new Failures()
  const late = () => ({ name: 'Error', message: 'late' })
  for (let i = 0; i < 3; i++) failures.came('check', late())
  failures.add('check', late())
  expect(failures.list()).toEqual([{ where: 'check', error: late(), count: 3 }])
})

test.each([
  ['hook "leave" did not end within 5s', 'did not end within 5s'],
  ['hook "leaver" is gone', 'hook "leaver" is gone'],
  ['no registry', 'no registry'],
])('what stands behind the name of what has failed does not say it again: %s', (message, rest) => {
  expect(withoutName(message, 'hook "leave"')).toBe(rest)
})
