/**
 * A terminal's screen, as far as our output needs one: text that wraps, newlines that scroll, and
 * the sequences that redraw in place. Anything else is an error, so that a test notices when
 * more is used. `reflow` is what most terminals do with wrapped lines when their window changes its
 * width; the others cut them off.
 */
export class Screen {
  #columns: number
  readonly #height: number
  /** Everything ever written, by rows; `wraps` when the next row belongs to the same line. */
  #rows: { text: string; wraps: boolean }[] = [{ text: '', wraps: false }]
  #row = 0
  #column = 0
  #isWrapping = true
  /** A sequence whose end has not come yet. */
  #begun = ''
  /** How often something visible has changed. */
  writes = 0

  constructor(columns: number, height: number) {
    this.#columns = columns
    this.#height = height
  }

  /** Lines without trailing blanks; a wrapped line is one. */
  get lines(): string[] {
    const lines: string[] = []
    let line = ''
    for (const { text, wraps } of this.#rows) {
      line += text
      if (wraps) continue
      lines.push(line.trimEnd())
      line = ''
    }
    while (lines.at(-1) === '') lines.pop()
    return lines
  }

  get columns(): number {
    return this.#columns
  }

  get rows(): number {
    return this.#height
  }

  /** What comes from a process may be cut anywhere, also within a sequence. */
  write(piece: string): void {
    this.writes++
    const all = this.#begun + piece
    // biome-ignore lint/suspicious/noControlCharactersInRegex: it is what a terminal reads
    this.#begun = /\u001b(\[\??\d*)?$/.exec(all)?.[0] ?? ''
    const output = all.slice(0, all.length - this.#begun.length)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: it is what a terminal reads
    for (const [token, sequence] of output.matchAll(/\u001b\[(\??\d*[A-Za-z])|[\s\S]/gu)) {
      if (sequence !== undefined) this.#control(sequence)
      else if (token === '\r') this.#column = 0
      else if (token === '\n') this.#newline(false)
      else if (token === '\u001b') throw new Error(`unknown escape sequence in ${JSON.stringify(output)}`)
      else this.#put(token)
    }
  }

  /** The user makes the window wider or narrower; the cursor stays where it is in its line. */
  reflow(columns: number): void {
    const whole: string[] = []
    let line = ''
    let cursorLine = 0
    for (const [index, { text, wraps }] of this.#rows.entries()) {
      if (index === this.#row) cursorLine = whole.length
      line += text
      if (wraps) continue
      whole.push(line)
      line = ''
    }
    this.#columns = columns
    this.#rows = []
    for (const [index, text] of whole.entries()) {
      if (index === cursorLine) this.#row = this.#rows.length
      const pieces = text.match(new RegExp(`.{1,${columns}}`, 'gu')) ?? ['']
      for (const [piece, part] of pieces.entries()) this.#rows.push({ text: part, wraps: piece < pieces.length - 1 })
    }
  }

  #put(character: string): void {
    if (this.#column >= this.#columns) {
      if (this.#isWrapping) this.#newline(true)
      else this.#column = this.#columns - 1
    }
    const row = this.#current
    row.text = row.text.padEnd(this.#column).slice(0, this.#column) + character + row.text.slice(this.#column + 1)
    this.#column++
  }

  #newline(wraps: boolean): void {
    this.#current.wraps = wraps
    this.#row++
    this.#column = 0
    if (this.#row === this.#rows.length) this.#rows.push({ text: '', wraps: false })
  }

  #control(sequence: string): void {
    if (sequence === '?7l' || sequence === '?7h') {
      this.#isWrapping = sequence === '?7h'
      return
    }
    const kind = sequence.at(-1)
    const count = Number(sequence.slice(0, -1) || 0)
    if (kind === 'm') return
    if (kind === 'A') {
      // What has scrolled off the top is out of reach.
      this.#row = Math.max(0, this.#rows.length - this.#height, this.#row - count)
    } else if (kind === 'K' || kind === 'J') {
      this.#current.text = this.#current.text.slice(0, this.#column)
      this.#current.wraps = false
      if (kind === 'J') this.#rows.length = this.#row + 1
    } else throw new Error(`unknown control sequence ${sequence}`)
  }

  get #current(): { text: string; wraps: boolean } {
    return this.#rows[this.#row] as { text: string; wraps: boolean }
  }
}
