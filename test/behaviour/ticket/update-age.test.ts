// Runs in: postgres, slow-forms

import { expect, test } from 'vitest'
import { updateAttendee } from '../../support/attendees.ts'
import { aLocation, anEvent, aRateNamed } from '../../support/factories.ts'
import * as refunds from '../../support/refunds.ts'
import { sharedSale } from '../../support/sale.ts'
import { aPaidTicket } from '../../support/tickets.ts'

// The minimum age of a corrected date of birth, on the day that the event starts where it takes place.

const year = new Date().getUTCFullYear()
const day = (years: number, rest: string) => `${year + 1 - years}-${rest}`

const sale = sharedSale({
  locations: [aLocation()],
  events: [
    anEvent({
      age: '18',
      // The 12th of July in Madrid.
      start_date: `${year + 1}-07-11T22:30:00.000Z`,
      end_date: `${year + 1}-07-12T04:00:00.000Z`,
      ticket_rates: [aRateNamed('1')],
    }),
  ],
})

test('a corrected date of birth must satisfy the minimum age', async () => {
  const { id } = await aPaidTicket(sale)
  const young = await updateAttendee(sale, id, { birthday: day(18, '07-13'), fullName: 'Young' })
  expect(refunds.refusalCodes(young)).toEqual(['UNDER_AGE attendees.0.birthDate 18'])
  expect(await refunds.ticketRow(sale, id)).toMatchObject({ birthday: null, fullName: 'Ana Núñez' })
  const { ticket } = await updateAttendee(sale, id, { birthday: day(18, '07-12') })
  expect(ticket?.birthday).toBe(day(18, '07-12'))
  // Other corrections do not look at it, and it may be cleared.
  expect((await updateAttendee(sale, id, { fullName: 'Zoe' })).ticket?.fullName).toBe('Zoe')
  expect((await updateAttendee(sale, id, { birthday: null })).ticket?.birthday).toBeNull()
})
