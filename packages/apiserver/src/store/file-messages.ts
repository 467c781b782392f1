/**
 * What the file engine and its thread say to each other. Values of several writes or rows travel as
 * one array of bytes, which is handed over and not copied; each says which part of it is its own.
 */
export interface BytesPart {
  readonly at: number
  readonly length: number
}

export interface WriteRequest {
  readonly key: string
  readonly expected: number | undefined
  /** Undefined: the key is deleted. */
  readonly value: BytesPart | undefined
}

/** A row that was read: its value is a part of the answer's bytes. */
export interface StoredRow extends BytesPart {
  readonly key: string
  readonly created: number
  readonly revision: number
}

export type WriteAnswer =
  | { readonly isDone: true; readonly revision: number; readonly created: number; readonly before: StoredRow | undefined }
  | { readonly isDone: false; readonly before: StoredRow | undefined }

export interface ChangeRow {
  readonly key: string
  readonly revision: number
  readonly after: StoredRow | undefined
  readonly before: StoredRow | undefined
}

export type Request =
  | {
      readonly op: 'open'
      readonly path: string
      readonly isVerified: boolean
      readonly revision?: number | undefined
      /** The file that has to be there, as an answer has named it; left out: any, or none. */
      readonly file?: string | undefined
    }
  | { readonly op: 'write'; readonly writes: readonly WriteRequest[]; readonly bytes: Uint8Array }
  | { readonly op: 'get'; readonly key: string; readonly at: number | undefined }
  | {
      readonly op: 'range'
      readonly from: string
      readonly to: string | undefined
      readonly at: number | undefined
      readonly limit: number
    }
  | { readonly op: 'changes'; readonly from: string; readonly to: string | undefined; readonly after: number; readonly limit: number }
  | { readonly op: 'compact'; readonly revision: number }
  /** One step of forgetting what is compacted. */
  | { readonly op: 'sweep'; readonly rows: number }
  /** Whether it can be written to again. */
  | { readonly op: 'probe' }
  | { readonly op: 'verify' }
  | { readonly op: 'close' }

/** What is asked with an operation is answered with that. */
export interface Answers {
  readonly open: { readonly revision: number; readonly compacted: number; readonly file: string | undefined }
  readonly write: { readonly results: readonly WriteAnswer[]; readonly bytes: Uint8Array }
  readonly get: { readonly row: StoredRow | undefined; readonly bytes: Uint8Array }
  readonly range: { readonly rows: readonly StoredRow[]; readonly count: number; readonly revision: number; readonly bytes: Uint8Array }
  readonly changes: { readonly changes: readonly ChangeRow[]; readonly upTo: number; readonly bytes: Uint8Array }
  readonly compact: { readonly compacted: number }
  readonly sweep: { readonly isOver: boolean }
  readonly probe: Record<never, never>
  readonly verify: { readonly rows: number; readonly keys: number; readonly revision: number; readonly compacted: number }
  readonly close: Record<never, never>
}

/** Why something was not done, by the reasons of a StoreError and what belongs to them. */
export interface ThreadRefusal {
  readonly reason: 'compacted' | 'future' | 'unavailable' | 'unknown' | 'damaged'
  readonly message: string
  readonly details: Record<string, unknown>
}

export type Numbered = { readonly id: number; readonly request: Request }

export type Reply =
  | { readonly id: number; readonly answer: Answers[keyof Answers] }
  | { readonly id: number; readonly refusal: ThreadRefusal }
