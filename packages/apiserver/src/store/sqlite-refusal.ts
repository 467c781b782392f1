import type { ThreadRefusal } from './file-messages.ts'

/**
 * The refusal that the thread sends when SQLite has thrown an error. The primary code of that error
 * decides which one: it is the low byte of `errcode`.
 *
 * The text of this function is a part of the file engine's thread: it uses nothing from outside of
 * itself.
 * @param isWritable whether this process may write to the file
 */
export function sqliteRefusal(thrown: unknown, path: string, isWritable: () => boolean): ThreadRefusal {
  const { errcode = 0, message = String(thrown) } = thrown as { readonly errcode?: number; readonly message?: string }
  const details = { sqlite: errcode }
  const damagedAt = (place: string): ThreadRefusal => ({
    reason: 'damaged',
    message: `${path} is damaged: ${message}`,
    details: { ...details, place },
  })
  switch (errcode & 0xff) {
    case 5:
    case 6:
      return {
        reason: 'unavailable',
        message: `${path} is in use by another process; one server at a time can use a file`,
        details: { ...details, isInUse: true },
      }
    // No statement is wrong by itself: the tables that it names are not as they were written.
    case 1:
    case 11:
    case 26:
      return damagedAt('the file')
    // The head of a file names a version, which may be one that SQLite must not write to.
    case 8:
      if (errcode === 8 && isWritable()) return damagedAt('the head of the file')
      break
    case 13:
      return { reason: 'unavailable', message: `${path} cannot be written: the disk is full`, details }
  }
  // A sync that has failed may have been done.
  return { reason: errcode === 1034 ? 'unknown' : 'unavailable', message: `${path} cannot be used: ${message}`, details }
}
