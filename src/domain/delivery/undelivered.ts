/** Why something could not be delivered: a code, and nothing of a person. What is permanent is not tried again. */
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
