const quote = 0x22
const backslash = 0x5c

// Fits most responses. A larger buffer is released after use.
const usualSize = 2 ** 20

const trueLiteral = Buffer.from('true')
const falseLiteral = Buffer.from('false')
const nullLiteral = Buffer.from('null')
const openBracket = Buffer.from('[')
const comma = Buffer.from(',')
const closeBracket = Buffer.from(']')
const openBrace = Buffer.from('{')
const closeBrace = Buffer.from('}')
const colon = Buffer.from(':')

// An object that JSON.stringify writes field by field.
const isPlain = (value: object): value is Record<string, unknown> =>
  Object.getPrototypeOf(value) === Object.prototype && !('toJSON' in value)

// ASCII characters that a JSON string must escape.
const isEscaped = Uint8Array.from({ length: 0x80 }, (_, code) =>
  code < 0x20 || code === quote || code === backslash ? 1 : 0,
)

/** Writes JSON, byte for byte as JSON.stringify would, straight into a buffer: no intermediate text, and no
 *  tree of objects, which is most of the garbage of a page. There is one instance for all requests, so
 *  between `start` and `take` nothing may await. */
class JsonWriter {
  #bytes = Buffer.alloc(0)
  #position = 0
  #part = 0

  /** Bytes written in this part. */
  get position(): number {
    return this.#position
  }

  /** Number of the current part. Positions are valid within one part: `start` and `take` begin another. */
  get part(): number {
    return this.#part
  }

  /** Begins a part, and discards what was not taken. */
  start(): void {
    this.#position = 0
    this.#part++
  }

  /** Returns the bytes of this part and begins the next. */
  take(): Buffer {
    const taken = Buffer.from(this.#bytes.subarray(0, this.#position))
    this.start()
    if (this.#bytes.length > usualSize) this.#bytes = Buffer.alloc(0)
    return taken
  }

  /** Repeats bytes of this part. */
  copy(start: number, end: number): void {
    this.#reserve(end - start)
    this.#bytes.copyWithin(this.#position, start, end)
    this.#position += end - start
  }

  #reserve(length: number): void {
    const needed = this.#position + length
    if (needed <= this.#bytes.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(usualSize, 2 * needed))
    this.#bytes.copy(larger, 0, 0, this.#position)
    this.#bytes = larger
  }

  null(): void {
    this.raw(nullLiteral)
  }

  /** Writes encoded JSON: a name or a word, for which a loop beats a copy. */
  raw(literal: Uint8Array): void {
    const { length } = literal
    this.#reserve(length)
    const bytes = this.#bytes
    const at = this.#position
    for (let index = 0; index < length; index++) bytes[at + index] = literal[index] as number
    this.#position = at + length
  }

  string(text: string): void {
    const { length } = text
    // A UTF-16 code unit takes at most three bytes in UTF-8.
    this.#reserve(3 * length + 2)
    const bytes = this.#bytes
    let at = this.#position
    bytes[at++] = quote
    for (let index = 0; index < length; index++) {
      const code = text.charCodeAt(index)
      if (code < 0x80) {
        if (isEscaped[code] === 1) return void this.#stringify(text)
        bytes[at++] = code
      } else if (code < 0x800) {
        bytes[at++] = 0xc0 | (code >> 6)
        bytes[at++] = 0x80 | (code & 0x3f)
      } else {
        // Surrogate.
        if (code >= 0xd800 && code <= 0xdfff) return void this.#stringify(text)
        bytes[at++] = 0xe0 | (code >> 12)
        bytes[at++] = 0x80 | ((code >> 6) & 0x3f)
        bytes[at++] = 0x80 | (code & 0x3f)
      }
    }
    bytes[at++] = quote
    this.#position = at
  }

  /** Writes a number, by a loop as literals are. */
  number(value: number): void {
    const text = Number.isFinite(value) ? String(value) : 'null'
    const { length } = text
    this.#reserve(length)
    const bytes = this.#bytes
    const at = this.#position
    for (let index = 0; index < length; index++) bytes[at + index] = text.charCodeAt(index)
    this.#position = at + length
  }

  /** Writes an array whose items `write` writes. */
  list(values: readonly unknown[], write: (value: unknown) => void): void {
    this.raw(openBracket)
    for (let index = 0; index < values.length; index++) {
      if (index > 0) this.raw(comma)
      write(values[index])
    }
    this.raw(closeBracket)
  }

  /** Writes any value. Returns false if JSON can't represent it. */
  value(value: unknown): boolean {
    if (typeof value === 'string') this.string(value)
    else if (typeof value === 'number') this.number(value)
    else if (typeof value === 'boolean') this.raw(value ? trueLiteral : falseLiteral)
    else if (value === null) this.null()
    else if (Array.isArray(value)) this.list(value, this.#item)
    else if (typeof value === 'object' && isPlain(value)) this.#object(value)
    else return this.#stringify(value)
    return true
  }

  readonly #item = (value: unknown): void => {
    if (!this.value(value)) this.null()
  }

  #object(fields: Record<string, unknown>): void {
    this.raw(openBrace)
    const first = this.#position
    for (const name in fields) {
      const before = this.#position
      if (before > first) this.raw(comma)
      this.string(name)
      this.raw(colon)
      if (!this.value(fields[name])) this.#position = before
    }
    this.raw(closeBrace)
  }

  #stringify(value: unknown): boolean {
    const text = JSON.stringify(value) as string | undefined
    if (text === undefined) return false
    this.#reserve(3 * text.length)
    this.#position += this.#bytes.write(text, this.#position)
    return true
  }
}

/** The one writer of this process: see JsonWriter. */
export const json = new JsonWriter()
