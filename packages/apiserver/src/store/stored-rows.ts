import type { ChangeRow, StoredRow } from './file-messages.ts'
import type { KeyValue, StoreChange } from './key-value-store.ts'

const NOTHING = new Uint8Array(0)

/** The entry of a row, whose value is a part of the bytes of its answer. */
export const entryOf = (row: StoredRow | undefined, bytes: Uint8Array): KeyValue | undefined =>
  row && {
    key: row.key,
    value: row.length === 0 ? NOTHING : bytes.subarray(row.at, row.at + row.length),
    createRevision: row.created,
    modRevision: row.revision,
  }

export const changeOf = ({ key, revision, after, before }: ChangeRow, bytes: Uint8Array): StoreChange => ({
  key,
  revision,
  current: entryOf(after, bytes),
  previous: entryOf(before, bytes),
})
