import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { byKey } from '../../src/data/prepared.ts'
import { changes } from '../../src/domain/change/table.ts'
import { charges, payments } from '../../src/domain/payment/table.ts'
import { refunds } from '../../src/domain/refund/table.ts'
import { tickets } from '../../src/domain/ticket/table.ts'
import { countersOf } from '../support/checkouts.ts'
import { brokenInvariants } from '../support/invariants.ts'
import { type KilledSale, openKilledSale } from '../support/killed-sale.ts'

// The service as it is started, killed again and again while buyers buy, pay, cancel, leave and pay too late.

const seed = Number(process.env.KILL_SEED ?? Date.now() % 1_000_000)

describe(`killed with KILL_SEED=${seed}`, () => {
  let killed: KilledSale
  /** Money that Stripe was told we know of, and that we don't. */
  let unknownMoney: unknown[]
  const paidSessions = () =>
    [...killed.fake.sessions.values()].filter(({ payment_status }) => payment_status === 'paid')

  beforeAll(async () => {
    killed = await openKilledSale(seed)
    await killed.runWithKills()
    await killed.waitForStripeEvents()
    // Before sessions are ended, which asks for what became of them.
    const known = new Set((await killed.sale.db.select().from(charges)).map(({ reference }) => reference))
    unknownMoney = paidSessions().filter(({ payment_intent }) => !known.has(payment_intent ?? ''))
    await killed.settle()
  }, 400_000)
  afterAll(() => killed?.close())

  test('it died at moments that matter, and much was under way', async () => {
    expect(killed.killMoments.length).toBeGreaterThanOrEqual(5)
    expect(killed.killMoments).toContain('event told')
    const of = await killed.sale.db.select().from(payments)
    const statuses = of.map(({ status }) => status)
    for (const met of ['paid', 'failed', 'expired', 'refunded']) expect(statuses).toContain(met)
    // Some who cancel are killed into having left, and some pay all the same.
    const back = await killed.sale.db.select().from(refunds)
    expect([...statuses, ...back.map(({ reason }) => reason)].map((met) => met?.toLowerCase())).toContain(
      'cancelled',
    )
  })

  test('nothing is wrong in its database', async () => {
    expect(await brokenInvariants(killed.sale.db)).toEqual([])
  })

  test('each checkout that was asked for until it was answered was made once', async () => {
    const of = await killed.sale.db.select().from(payments)
    expect(of.map(({ id }) => id).sort()).toEqual(killed.crowd.paymentIds.toSorted())
  })

  test('what was taken of Stripe as told is known', () => {
    expect(unknownMoney).toEqual([])
  })

  test('all money is either a ticket or back, and no money is both', async () => {
    const { db } = killed.sale
    const ticketsOf = byKey(await db.select().from(tickets), ({ paymentId }) => paymentId)
    const sums = (await db.select().from(payments)).map(({ id, paidAt, totalAmount, refundedAmount }) => {
      const came = paidSessions().filter(({ metadata }) => metadata.payment_id === id)
      const intents = new Set(came.map(({ payment_intent }) => payment_intent))
      const back = killed.fake.refunds.filter(({ payment_intent }) => intents.has(payment_intent))
      const active = (ticketsOf.get(id) ?? []).map(({ status }) => status === 'active')
      const kept = sum(came.map(({ amount_total }) => amount_total)) - sum(back.map(({ amount }) => amount))
      return {
        told: { id, kept, tickets: new Set(active) },
        wanted: {
          id,
          kept: paidAt ? totalAmount - refundedAmount : 0,
          tickets: new Set([paidAt !== null]),
        },
      }
    })
    expect(sums.map(({ told }) => told)).toEqual(sums.map(({ wanted }) => wanted))
  })

  test('each refund was made once, and is known', async () => {
    const of = await killed.sale.db.select().from(refunds)
    const made = killed.fake.refunds.map(({ id, amount }) => [id, amount])
    expect(made.sort()).toEqual(of.map(({ reference, amount }) => [reference, amount]).sort())
    expect(made.length).toBeGreaterThan(0)
  })

  test('nothing is held any more, and nobody can pay any more', async () => {
    const held = Object.values(await countersOf(killed.sale)).map(({ held }) => held)
    expect(new Set(held)).toEqual(new Set([0]))
    expect([...killed.fake.sessions.values()].filter(({ status }) => status === 'open')).toEqual([])
  })

  test('each buyer of what was paid has a mail with the tickets, and can tell it from its repetitions', async () => {
    const { db } = killed.sale
    const paid = (await db.select().from(tickets)).filter(({ status }) => status === 'active')
    const wanted = byKey(paid, ({ email }) => email)
    const mailsTo = byKey(killed.mailServer.mails, ({ to }) => to.join())
    for (const [email, of] of wanted) {
      const mails = (mailsTo.get(email) ?? []).map(({ mail }) => mail)
      const documents = mails.map(
        ({ attachments }) => attachments.filter(({ mimeType }) => mimeType === 'application/pdf').length,
      )
      expect(documents, email).toContain(of.length)
      expect(new Set(mails.map(({ messageId }) => messageId)).size, email).toBe(1)
    }
    expect([...mailsTo.keys()].filter((email) => !wanted.has(email))).toEqual([])
  })

  test('each change was told, signed, and nothing else', async () => {
    const of = await killed.sale.db.select().from(changes)
    const verifier = new Webhook(killed.webhook.secret)
    const told = new Map(
      killed.receiver.received.map(({ headers, body }) => {
        const { type, subject_id, sequence } = verifier.verify(body, headers as Record<string, string>) as {
          [name: string]: unknown
        }
        return [String(headers['webhook-id']), [type, subject_id, sequence]]
      }),
    )
    expect(told).toEqual(
      new Map(of.map(({ id, type, subjectId, sequence }) => [id, [type, subjectId, sequence]])),
    )
  })
})

const sum = (amounts: number[]) => amounts.reduce((total, amount) => total + amount, 0)
