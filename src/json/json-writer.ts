import { isFast } from '../shared/fast.ts'
import { type Literal, toLiteral, wordLength } from './encoded-literal.ts'

const fast = isFast('encoded-literal')
const quote = 0x22
const backslash = 0x5c
const zero = 0x30
const point = 0x2e
const maxDigits = 9

const isShort = (value: number) => Number.isInteger(value) && value >= 0 && value < 10 ** maxDigits

// What is asked for as a rule fits in; what was larger once does not stay.
const usualSize = 2 ** 20

const yes = toLiteral('true')
const no = toLiteral('false')
const nothing = toLiteral('null')
const begin = toLiteral('[')
const next = toLiteral(',')
const end = toLiteral(']')

// Of ASCII, what a text of JSON has only behind a backslash.
const isEscaped = Uint8Array.from({ length: 0x80 }, (_, code) =>
  code < 0x20 || code === quote || code === backslash ? 1 : 0,
)

const viewOf = ({ buffer, byteOffset, length }: Buffer) => new DataView(buffer, byteOffset, length)

/** Writes JSON as the bytes that are sent, and as JSON.stringify would: a text of them need not be made first, nor a
 *  tree of objects, which are most of the garbage of a page. Whoever starts it takes what is written before anybody
 *  else can: nothing waits in between. */
class JsonWriter {
  #bytes = Buffer.alloc(0)
  #view = viewOf(this.#bytes)
  #at = 0
  #part = 0

  /** How much is written of this part. */
  get at(): number {
    return this.#at
  }

  /** Counts what was begun and taken: what was written before either is elsewhere. */
  get part(): number {
    return this.#part
  }

  /** Forgets what was begun and not taken. */
  start(): void {
    this.#at = 0
    this.#part++
  }

  /** What was written since the start, or since the last that was taken. */
  take(): Buffer {
    const taken = Buffer.from(this.#bytes.subarray(0, this.#at))
    this.#at = 0
    this.#part++
    if (this.#bytes.length > usualSize) this.#use(Buffer.alloc(0))
    return taken
  }

  /** Writes once more what is written of this part there. */
  copy(start: number, end: number): void {
    this.#reserve(end - start)
    this.#bytes.copyWithin(this.#at, start, end)
    this.#at += end - start
  }

  #reserve(length: number): void {
    const least = this.#at + length
    if (least <= this.#bytes.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(usualSize, 2 * least))
    this.#bytes.copy(larger, 0, 0, this.#at)
    this.#use(larger)
  }

  #use(bytes: Buffer<ArrayBuffer>): void {
    this.#bytes = bytes
    this.#view = viewOf(bytes)
  }

  null(): void {
    this.raw(nothing)
  }

  boolean(value: boolean): void {
    this.raw(value ? yes : no)
  }

  /** What is JSON already. A loop, because there are thousands of few bytes. */
  raw(literal: Literal): void {
    if (fast) this.#words(literal)
    else this.#copy(literal)
  }

  #copy({ length, bytes }: Literal): void {
    this.#reserve(length)
    this.#bytes.set(bytes, this.#at)
    this.#at += length
  }

  #words({ length, words }: Literal): void {
    // The last word may be longer than what is left of the literal.
    this.#reserve(length + wordLength)
    const view = this.#view
    const at = this.#at
    for (let index = 0; index < words.length; index++)
      view.setFloat64(at + index * wordLength, words[index] ?? 0, true)
    this.#at = at + length
  }

  string(text: string): void {
    const { length } = text
    // No unit of UTF-16 takes more than three bytes.
    this.#reserve(3 * length + 2)
    const bytes = this.#bytes
    let at = this.#at
    bytes[at++] = quote
    for (let index = 0; index < length; index++) {
      const code = text.charCodeAt(index)
      if (code < 0x80) {
        if (isEscaped[code] === 1) return void this.#slow(text)
        bytes[at++] = code
      } else if (code < 0x800) {
        bytes[at++] = 0xc0 | (code >> 6)
        bytes[at++] = 0x80 | (code & 0x3f)
      } else {
        // Half of a pair.
        if (code >= 0xd800 && code <= 0xdfff) return void this.#slow(text)
        bytes[at++] = 0xe0 | (code >> 12)
        bytes[at++] = 0x80 | ((code >> 6) & 0x3f)
        bytes[at++] = 0x80 | (code & 0x3f)
      }
    }
    bytes[at++] = quote
    this.#at = at
  }

  number(value: number): void {
    this.#reserve(maxDigits + 3)
    if (isShort(value)) return void this.#digits(value)
    // As most amounts are: no other number of so few digits is as near.
    const hundredths = Math.round(value * 100)
    if (!isShort(hundredths) || hundredths / 100 !== value) return void this.#slow(value)
    const whole = Math.trunc(value)
    const rest = hundredths - 100 * whole
    this.#digits(whole)
    this.#bytes[this.#at++] = point
    if (rest < 10) this.#bytes[this.#at++] = zero
    this.#digits(rest % 10 === 0 ? rest / 10 : rest)
  }

  #digits(value: number): void {
    let digits = 1
    for (let power = 10; power <= value; power *= 10) digits++
    const bytes = this.#bytes
    const end = this.#at + digits
    let rest = value
    for (let at = end - 1; at >= this.#at; at--) {
      const tenth = Math.trunc(rest / 10)
      bytes[at] = zero + rest - 10 * tenth
      rest = tenth
    }
    this.#at = end
  }

  /** A list, each of it written by `write`. */
  list(values: readonly unknown[], write: (value: unknown) => void): void {
    this.raw(begin)
    for (let index = 0; index < values.length; index++) {
      if (index > 0) this.raw(next)
      write(values[index])
    }
    this.raw(end)
  }

  /** Any value. Whether it is one that JSON has. */
  value(value: unknown): boolean {
    if (typeof value === 'string') this.string(value)
    else if (typeof value === 'number') this.number(value)
    else if (typeof value === 'boolean') this.boolean(value)
    else if (value === null) this.null()
    else return this.#slow(value)
    return true
  }

  #slow(value: unknown): boolean {
    const text = JSON.stringify(value) as string | undefined
    if (text === undefined) return false
    this.#reserve(3 * text.length)
    this.#at += this.#bytes.write(text, this.#at)
    return true
  }
}

/** One for all: see JsonWriter. */
export const json = new JsonWriter()
