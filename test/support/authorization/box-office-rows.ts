import { checkoutPlaces, checkoutRow } from './catalogue-rows.ts'
import { graphqlAsk, isIntegration, type Row, type Rows } from './matrix-row.ts'
import { seesCatalogue } from './oracle.ts'

// Matrix rows of what an organization sells and gives away itself.

const sell = graphqlAsk('mutation', 'sellAtBoxOffice', '$input: SellAtBoxOfficeInput!', 'input: $input')
const give = graphqlAsk('mutation', 'issueInvitations', '$input: IssueInvitationsInput!', 'input: $input')

let keys = 0
// A key of one length, so that answers can be compared.
const nextKey = () => `desk-${String(++keys).padStart(6, '0')}`

const sales = checkoutPlaces.map((place): [string, Row] => {
  const { inputOf, ...row } = checkoutRow(place, isIntegration)
  return [
    `Mutation.sellAtBoxOffice(input.${place})`,
    {
      ...row,
      writes: true,
      ask: (caller, id) =>
        sell({ input: { ...inputOf(caller, id), method: 'CASH', idempotencyKey: nextKey() } }),
    },
  ]
})

const guests = [{ fullName: 'mk-sale-matrix', email: 'matrix@example.com' }]

export const boxOfficeRows: Rows = {
  ...Object.fromEntries(sales),
  'Mutation.issueInvitations(input.ticketRateId)': {
    kind: 'rate',
    sees: (caller, thing) => isIntegration(caller) && seesCatalogue(caller, thing),
    writes: true,
    ask: (_caller, ticketRateId) => give({ input: { ticketRateId, guests, idempotencyKey: nextKey() } }),
  },
}
