/** Checkout as this tab remembers it: the address of its payment page is what finds the payment again. */
export type Order = { url: string; eventId: string; eventName: string; tickets: number }

const keyOf = (paymentId: string) => `boxoffice:order:${paymentId}`

/** Remembers an order for as long as the tab is open. A browser may refuse to store anything. */
export function saveOrder(paymentId: string, order: Order): void {
  try {
    sessionStorage.setItem(keyOf(paymentId), JSON.stringify(order))
  } catch {}
}

/** Returns an order of this tab; null if it has none with this payment. */
export function findOrder(paymentId: string): Order | null {
  try {
    return JSON.parse(sessionStorage.getItem(keyOf(paymentId)) ?? 'null') as Order | null
  } catch {
    return null
  }
}
