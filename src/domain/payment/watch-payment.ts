import { type PullStream, streamPages } from '../../engine/data/pull-stream.ts'
import { watchTopic } from '../../engine/database/announcements.ts'
import { perDatabase } from '../../engine/database/database.ts'
import { type Context, requireSelling } from '../caller/context.ts'
import { refusal } from '../contract/problem-codes.ts'
import { findPayment } from './loaders.ts'
import { tokenInUrl } from './payment-url.ts'
import type { Payment } from './table.ts'

/** Finds a payment of the calling channel by the URL of its page; null if there is none. Refuses: UNAUTHENTICATED,
 *  FORBIDDEN for an integration. */
export async function findPaymentByUrl(url: string, ctx: Context): Promise<Payment | null> {
  const { channelId, mode } = requireSelling(ctx)
  const named = tokenInUrl(url)
  const found = named && (await findPayment(ctx.db, named.organizationId, named.id))
  const isTheirs = found?.pageToken === named?.token && found?.channelId === channelId && found.mode === mode
  return isTheirs ? found : null
}

// Number of looks after which every payment is read, in case a process died before it announced a change.
const looksUntilAll = 10

const paymentWatch = perDatabase((db) => watchTopic(db, 'payments', { untilAll: looksUntilAll }))

/** Streams a payment as it is, and again whenever its status has changed or more of it is refunded. It never ends by
 *  itself: late money pays an expired payment. Refuses: NOT_FOUND, and as `findPaymentByUrl` does. */
export async function watchPayment(url: string, ctx: Context): Promise<PullStream<Payment>> {
  const first = await findPaymentByUrl(url, ctx)
  if (!first) throw refusal('NOT_FOUND', 'There is no such payment.', ['url'])
  const { id, organizationId } = first
  let last = first
  return streamPages({
    rows: [first],
    watch: (wake) => paymentWatch(ctx.db).add({ names: [id], wake }),
    async readPage() {
      const found = (await findPayment(ctx.db, organizationId, id)) ?? last
      const isSame = found.status === last.status && found.refundedAmount === last.refundedAmount
      last = found
      return { rows: isSame ? [] : [found], hasMore: false }
    },
  })
}
