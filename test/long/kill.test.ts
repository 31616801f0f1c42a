// Runs in: citus, long, first

import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { changes } from '../../src/domain/change/table.ts'
import { charges, payments } from '../../src/domain/payment/table.ts'
import { refunds } from '../../src/domain/refund/table.ts'
import { tickets } from '../../src/domain/ticket/table.ts'
import { groupBy } from '../../src/engine/base/group-by.ts'
import { countersOf } from '../support/checkouts.ts'
import { brokenInvariants } from '../support/invariants.ts'
import { type KilledSale, killsAt, openKilledSale } from '../support/killed-sale.ts'

// The built service, killed repeatedly while buyers buy, pay, cancel, leave and pay late.

const seed = Number(process.env.KILL_SEED ?? Date.now() % 1_000_000)

describe(`service killed with KILL_SEED=${seed}`, () => {
  let killed: KilledSale
  /** Payments at Stripe whose webhooks we accepted without recording them. */
  let unknownMoney: unknown[]
  const paidSessions = () =>
    [...killed.fake.sessions.values()].filter(({ payment_status }) => payment_status === 'paid')

  beforeAll(async () => {
    killed = await openKilledSale(seed)
    await killed.runWithKills()
    await killed.waitForStripeEvents()
    // Before sessions are expired, which would read their payments from Stripe.
    const known = new Set((await killed.sale.db.select().from(charges)).map(({ reference }) => reference))
    unknownMoney = paidSessions().filter(({ payment_intent }) => !known.has(payment_intent ?? ''))
    await killed.settle()
  }, 400_000)
  afterAll(() => killed?.close())

  test('was killed at the moments that matter', async () => {
    expect(killed.killMoments.length).toBeGreaterThanOrEqual(killsAt.length - 2)
    expect(killed.killMoments).toContain('event told')
    const rows = await killed.sale.db.select().from(payments)
    const statuses = rows.map(({ status }) => status)
    for (const met of ['paid', 'failed', 'expired', 'refunded']) expect(statuses).toContain(met)
    // Some buyers are killed while cancelling, and some pay all the same.
    const back = await killed.sale.db.select().from(refunds)
    expect([...statuses, ...back.map(({ reason }) => reason)].map((met) => met?.toLowerCase())).toContain(
      'cancelled',
    )
  })

  test('leaves a consistent database', async () => {
    expect(await brokenInvariants(killed.sale.db)).toEqual([])
  })

  test('made each answered checkout once', async () => {
    const rows = await killed.sale.db.select().from(payments)
    expect(rows.map(({ id }) => id).sort()).toEqual(killed.crowd.paymentIds.toSorted())
  })

  test('recorded every payment whose webhook it accepted', () => {
    expect(unknownMoney).toEqual([])
  })

  test('turned all money into a ticket or a refund, and none into both', async () => {
    const { db } = killed.sale
    const ticketsOf = groupBy(await db.select().from(tickets), ({ paymentId }) => paymentId)
    const sums = (await db.select().from(payments)).map(({ id, paidAt, totalAmount, refundedAmount }) => {
      const came = paidSessions().filter(({ metadata }) => metadata.payment_id === id)
      const intents = new Set(came.map(({ payment_intent }) => payment_intent))
      const back = killed.fake.refunds.filter(({ payment_intent }) => intents.has(payment_intent))
      const active = (ticketsOf.get(id) ?? []).map(({ status }) => status === 'active')
      const kept = sum(came.map(({ amount_total }) => amount_total)) - sum(back.map(({ amount }) => amount))
      return {
        actual: { id, kept, tickets: new Set(active) },
        expected: {
          id,
          kept: paidAt ? totalAmount - refundedAmount : 0,
          tickets: new Set([paidAt !== null]),
        },
      }
    })
    expect(sums.map(({ actual }) => actual)).toEqual(sums.map(({ expected }) => expected))
  })

  test('made each refund once and recorded it', async () => {
    const rows = await killed.sale.db.select().from(refunds)
    const made = killed.fake.refunds.map(({ id, amount }) => [id, amount])
    expect(made.sort()).toEqual(rows.map(({ reference, amount }) => [reference, amount]).sort())
    expect(made.length).toBeGreaterThan(0)
  })

  test('leaves no place held and no session open', async () => {
    const held = Object.values(await countersOf(killed.sale)).map(({ held }) => held)
    expect(new Set(held)).toEqual(new Set([0]))
    expect([...killed.fake.sessions.values()].filter(({ status }) => status === 'open')).toEqual([])
  })

  test('sent each buyer a mail with the tickets, repeated only under the same Message-ID', async () => {
    const { db } = killed.sale
    const paid = (await db.select().from(tickets)).filter(({ status }) => status === 'active')
    const paidByEmail = groupBy(paid, ({ email }) => email)
    const mailsTo = groupBy(killed.mailServer.mails, ({ to }) => to.join())
    for (const [email, expected] of paidByEmail) {
      const isDocument = ({ mimeType }: { mimeType: string }) => mimeType === 'application/pdf'
      // Not those that tell of a refund.
      const mails = (mailsTo.get(email) ?? []).flatMap(({ mail }) =>
        mail.attachments.some(isDocument) ? mail : [],
      )
      const documents = mails.map(({ attachments }) => attachments.filter(isDocument).length)
      expect(documents, email).toContain(expected.length)
      expect(new Set(mails.map(({ messageId }) => messageId)).size, email).toBe(1)
    }
    expect([...mailsTo.keys()].filter((email) => !paidByEmail.has(email))).toEqual([])
  })

  test('sent each change to the webhook, signed, and nothing else', async () => {
    const rows = await killed.sale.db.select().from(changes)
    const verifier = new Webhook(killed.webhook.secret)
    const received = new Map(
      killed.receiver.received.map(({ headers, body }) => {
        const { type, subject_id, sequence } = verifier.verify(body, headers as Record<string, string>) as {
          [name: string]: unknown
        }
        return [String(headers['webhook-id']), [type, subject_id, sequence]]
      }),
    )
    expect(received).toEqual(
      new Map(rows.map(({ id, type, subjectId, sequence }) => [id, [type, subjectId, sequence]])),
    )
  })
})

const sum = (amounts: number[]) => amounts.reduce((total, amount) => total + amount, 0)
