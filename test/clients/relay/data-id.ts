// Types whose `id` is not their own: the price of a ticket names the price that many tickets were sold at.
export const withoutIdentity = ['FeedChange', 'PriceInfo', 'TicketSupplement', 'Viewer']

/** Returns what Relay keeps an object by; nothing for those that belong to the object around them. */
export const dataId = ({ id }: { [field: string]: unknown }, typename: string): unknown =>
  withoutIdentity.includes(typename) ? undefined : id
