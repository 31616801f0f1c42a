/** Delivery failure: a code without personal data. A permanent failure is not retried. */
export class Undelivered extends Error {
  readonly code: string
  readonly isPermanent: boolean

  constructor(code: string, isPermanent: boolean) {
    super(code)
    this.name = 'Undelivered'
    this.code = code
    this.isPermanent = isPermanent
  }
}
