// GraphQL's inputs and outputs, from and to the flat forms that tests state facts in.

type Fields = Record<string, unknown>

/** Amount of GraphQL. */
export type Amount = { amount: string; currency: string }

/** Amount as GraphQL shows and takes it. */
export const money = (amount: number, currency = 'EUR', decimals = 2): Amount => ({
  amount: amount.toFixed(decimals),
  currency,
})

/** Selection of these amounts. */
export const amountsOf = (...fields: string[]): string =>
  fields.map((field) => `${field} { amount currency }`).join(' ')

/** Number of an amount. */
export const numberOf = ({ amount }: Amount): number => Number(amount)

const isAmount = (value: object): value is Amount => 'amount' in value && 'currency' in value

/** A copy of an answer whose amounts are numbers in major units. */
export function withNumbers<Answer>(answer: Answer): Answer {
  if (Array.isArray(answer)) return answer.map(withNumbers) as Answer
  if (typeof answer !== 'object' || answer === null) return answer
  if (isAmount(answer) && Object.keys(answer).length === 2 && typeof answer.amount === 'string')
    return Number(answer.amount) as Answer
  return Object.fromEntries(
    Object.entries(answer).map(([name, value]) => [name, withNumbers(value)]),
  ) as Answer
}

const given = (fields: Fields) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))

const wholeOf = (fields: Fields) => {
  const known = given(fields)
  return Object.keys(known).length > 0 ? known : undefined
}

/** An attendee of GraphQL, from flat fields, and the fields that are none of its. */
export function toAttendee({
  fullName,
  email,
  phone,
  language,
  birthday,
  address,
  postalCode,
  countryCode,
  personalDocumentType,
  personalDocumentNumber,
  ...rest
}: Fields): { attendee: Fields; rest: Fields } {
  const attendee = given({
    ...{ fullName, email, phone, language, birthDate: birthday },
    address: wholeOf({ street: address, postalCode, countryCode }),
    identityDocument: wholeOf({ type: personalDocumentType, number: personalDocumentNumber }),
  })
  return { attendee, rest }
}

/** A ticket of GraphQL, from a flat one. */
export function toTicket(flat: Fields): Fields {
  const { attendee, rest } = toAttendee(flat)
  return { ...rest, attendee }
}

/** Items of GraphQL, from a rate and flat tickets. */
export const toItems = (ticketRateId: unknown, tickets: Fields[]) => [
  { ticketRateId, tickets: tickets.map(toTicket) },
]

const places: Record<string, string> = {
  'attendee.birthDate': 'birthday',
  'attendee.address.street': 'address',
  'attendee.address.postalCode': 'postalCode',
  'attendee.address.countryCode': 'countryCode',
  'attendee.identityDocument.type': 'personalDocumentType',
  'attendee.identityDocument.number': 'personalDocumentNumber',
}

/** The flat path of one in items. */
export const toFlatPath = (path: string): string =>
  path
    .replace(/^items\.0\./, '')
    .replace(
      /attendee\.(address\.|identityDocument\.)?\w+/,
      (place) => places[place] ?? place.replace('attendee.', ''),
    )

/** Selection of all fields of an attendee. */
export const attendeeFields = `attendee { fullName email phone language birthDate
  address { street postalCode countryCode } identityDocument { type number } }`

type Attendee = {
  birthDate: string | null
  address: { street: string | null; postalCode: string | null; countryCode: string | null } | null
  identityDocument: { type: string | null; number: string | null } | null
} & Fields

/** Flat fields of a ticket's attendee, as `toAttendee` takes them. */
export const fromAttendee = ({ birthDate, address, identityDocument, ...same }: Attendee) => ({
  ...same,
  birthday: birthDate,
  address: address?.street ?? null,
  postalCode: address?.postalCode ?? null,
  countryCode: address?.countryCode ?? null,
  personalDocumentType: identityDocument?.type ?? null,
  personalDocumentNumber: identityDocument?.number ?? null,
})
