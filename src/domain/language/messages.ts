import type english from './messages/en.json'

/** Key of a message. Every language has all of them: see `messages/`, a file per language in ICU
 *  MessageFormat, which translators edit. */
export type MessageKey = keyof typeof english

/** Parameters of the messages that have any. */
export const parametersOf = {
  'event.start': ['date', 'time'],
  'order.footer': ['id'],
  'order.seller': ['organization'],
  'order.tickets': ['count'],
  'order.warranty': ['hours'],
  'order.discount': ['name'],
  'pay.title': ['event'],
  'pay.heldUntil': ['time'],
  'pay.minutesLeft': ['minutes'],
  'pay.hoursLeft': ['hours', 'minutes'],
  'pay.pay': ['amount'],
  'outcome.pageTitle': ['outcome', 'event'],
  'outcome.sent': ['recipients'],
  'outcome.sending': ['recipients'],
  'outcome.ticket': ['number', 'name'],
  'error.footer': ['id'],
  'mail.subject': ['count', 'event'],
  'mail.attached': ['count'],
  'mail.discount': ['name', 'amount'],
  'mail.total': ['amount'],
  'mail.order': ['id', 'organization'],
  'notice.transfer': ['event'],
  'notice.refund': ['event'],
  'notice.cancellation': ['event'],
  'notice.date': ['event'],
  'notice.before': ['start'],
  'notice.goesBack': ['amount'],
  'notice.byHand': ['organization', 'amount'],
  'notice.valid': ['count'],
  'notice.contact': ['organization', 'id'],
  'calendar.description': ['organization'],
  'document.file': ['number'],
  'document.title': ['event', 'number'],
  'document.footer': ['order', 'ticket'],
} as const satisfies Partial<Record<MessageKey, readonly string[]>>

type Parameters = typeof parametersOf

/** Key of a message without parameters. */
export type PlainKey = Exclude<MessageKey, keyof Parameters>

/** Values that a message needs: none, or an object with its parameters. */
export type ValuesOf<Key extends MessageKey> = Key extends keyof Parameters
  ? [values: Record<Parameters[Key][number], string | number>]
  : []
