/**
 * What a pipe takes whole or not at all, so that lines of processes that share one are never mixed:
 * `PIPE_BUF`, 512 by POSIX and more on Linux.
 */
const WHOLE_BYTES_MAX = process.platform === 'linux' ? 4096 : 512
/** Lines wait in blocks of this size. */
const BLOCK_BYTES = 64 * 1024
/**
 * A line of this size does not open a block that it would leave half empty, but gets one of its
 * own.
 */
const LARGE_LINE_BYTES = BLOCK_BYTES / 4

interface Block {
  readonly bytes: Buffer
  used: number
  /** Where each of its lines ends. */
  readonly ends: number[]
}

/** Some bytes of a block. */
export interface Piece {
  readonly bytes: Buffer
  readonly offset: number
  readonly length: number
}

/**
 * Lines on their way to a file descriptor, first in, first out: as bytes, in blocks, so that
 * neither adding nor taking a line gets slower the more of them wait, and many small ones leave
 * with one write.
 */
export class LineQueue {
  #blocks: Block[] = []
  #bytes = 0
  #lines = 0
  /**
   * The place in the first block: bytes that have left, and which line is the next to leave whole.
   */
  #offset = 0
  #line = 0

  /** Bytes that have not left. */
  get bytes(): number {
    return this.#bytes
  }

  /** Lines that have not left, or not whole. */
  get lines(): number {
    return this.#lines
  }

  /** A part of the first line has left. */
  get isInLine(): boolean {
    const begin = this.#line === 0 ? 0 : this.#blocks[0]?.ends[this.#line - 1]
    return this.#offset !== begin
  }

  add(line: string): void {
    const length = Buffer.byteLength(line)
    if (length === 0) return
    const block = this.#blockFor(length)
    block.bytes.write(line, block.used)
    block.used += length
    block.ends.push(block.used)
    this.#bytes += length
    this.#lines++
  }

  /**
   * What is to be written next: as many whole lines as a pipe takes at once, or one longer line.
   * undefined: nothing.
   */
  next(): Piece | undefined {
    if (this.#bytes === 0) return undefined
    const { bytes, ends } = this.#blocks[0] as Block
    let line = this.#line
    let end = ends[line] as number
    for (let after = ends[++line]; after !== undefined && after - this.#offset <= WHOLE_BYTES_MAX; after = ends[++line]) end = after
    return { bytes, offset: this.#offset, length: end - this.#offset }
  }

  /**
   * Notes how many bytes of the next piece have left. Returns how many lines have left with them.
   */
  took(bytes: number): number {
    const block = this.#blocks[0] as Block
    const { ends, used } = block
    const before = this.#line
    this.#offset += bytes
    this.#bytes -= bytes
    while (this.#line < ends.length && (ends[this.#line] as number) <= this.#offset) this.#line++
    const lines = this.#line - before
    this.#lines -= lines
    if (this.#offset === used) this.#drop(block)
    return lines
  }

  clear(): void {
    this.#blocks = []
    this.#bytes = this.#lines = this.#offset = this.#line = 0
  }

  #blockFor(length: number): Block {
    const last = this.#blocks.at(-1)
    if (last && last.bytes.length - last.used >= length) return last
    // Nothing waits, and what comes is larger.
    if (last?.used === 0) this.#blocks.pop()
    const block: Block = { bytes: Buffer.allocUnsafe(length >= LARGE_LINE_BYTES ? length : BLOCK_BYTES), used: 0, ends: [] }
    this.#blocks.push(block)
    return block
  }

  /** The last block serves again: as long as the reader keeps up, nothing is allocated. */
  #drop(block: Block): void {
    this.#offset = this.#line = 0
    if (this.#blocks.length > 1 || block.bytes.length !== BLOCK_BYTES) this.#blocks.shift()
    else {
      block.used = 0
      block.ends.length = 0
    }
  }
}
