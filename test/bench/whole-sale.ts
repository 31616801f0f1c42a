import { type Answer, type Ask, openClient, toBytes } from './http-client.ts'
import { pressAsk } from './payment-load.ts'
import { checkoutAsks, listAsk, lookupAsks, quoteAsk, type Target } from './requests.ts'
import { runTransactions, type Transactions } from './transactions.ts'

/** Whole sales: each client repeatedly lists, quotes, checks out, pays and looks up. */
export type WholeSale = {
  port: number
  clients: number
  seconds: number
  /** Channel keys, shared by the clients. */
  keys: string[]
  /** Integration key of the organization that owns these rates. */
  integrationKey: string
  targets: Target[]
}

type Send = (ask: Ask) => Promise<Answer>
type Life = { key: string; integrationKey: string; target: Target }

type Quoted = { data?: { quoteCheckout?: { amounts?: { total: { amount: string } } } } }
const quotedOf = (body: string): number | undefined => {
  const { amounts } = (JSON.parse(body) as Quoted).data?.quoteCheckout ?? {}
  return amounts && Number(amounts.total.amount)
}
const checkedOutOf = (body: string) =>
  (
    JSON.parse(body) as {
      data?: { payment_url: string; total_amount: number; tickets: { _id: string }[] }
    }
  ).data
const lookedUpOf = (body: string) =>
  (JSON.parse(body) as { data?: { status: string; total_paid: number; invoice_reference: string | null } })
    .data

/** Buys one ticket as a channel and its buyer do, and looks it up as a door does. Throws if a response
 *  contradicts an earlier one. */
export async function buyOne(send: Send, { key, integrationKey, target }: Life): Promise<void> {
  const ask = async (step: string, asked: Ask, status = 200) => {
    const answer = await send(asked)
    if (answer.status !== status)
      throw new Error(`${step} was answered with ${answer.status}: ${answer.body}`)
    return { head: answer.head ?? '', body: answer.body ?? '' }
  }
  const [checkout] = checkoutAsks(key, 'rest', [target])
  if (!checkout) throw new Error('there is nothing to buy')
  await ask('the list', listAsk(key))
  const quoted = quotedOf((await ask('the quote', quoteAsk(key, target))).body)
  const bought = checkedOutOf((await ask('the checkout', checkout)).body)
  const [ticket] = bought?.tickets ?? []
  if (!bought || !ticket || bought.total_amount !== quoted)
    throw new Error(`quoted at ${quoted}, checked out at ${bought?.total_amount}`)
  const token = new URL(bought.payment_url).pathname.slice('/pay/'.length)
  const paid = await ask('the payment', pressAsk({ token }), 303)
  if (!/\r\nlocation: https:\/\/shop\.example\/done/i.test(paid.head))
    throw new Error(`a buyer who paid was sent elsewhere:\n${paid.head}`)
  const [lookup] = lookupAsks(integrationKey, 'rest', [ticket._id])
  if (!lookup) throw new Error('there is nothing to look up')
  const found = lookedUpOf((await ask('the lookup', lookup)).body)
  if (found?.status !== 'activated' || !found.invoice_reference || found.total_paid !== quoted)
    throw new Error(`a paid ticket is looked up as ${JSON.stringify(found)}`)
}

/** Runs whole sales for some seconds, with one keep-alive connection per client. */
export async function runWholeSale({
  port,
  clients,
  seconds,
  keys,
  integrationKey,
  targets,
}: WholeSale): Promise<Transactions> {
  const opened = await Promise.all(
    Array.from({ length: clients }, () => openClient(port, { keepsText: true })),
  )
  try {
    return await runTransactions({ clients, seconds }, async (client, turn) => {
      const key = keys[client % keys.length]
      // Clients start at different rates.
      const target = targets[(turn * clients + client * 7) % targets.length]
      const connection = opened[client]
      if (!key || !target || !connection) throw new Error('a sale has clients, keys and rates')
      await buyOne((ask) => connection.send(toBytes(ask, port)), { key, integrationKey, target })
    })
  } finally {
    for (const client of opened) client.close()
  }
}
