import { builder } from '../../graphql/builder.ts'
import { catchRefusal, resultUnion } from '../../graphql/mutation-result.ts'
import { requireIntegration } from '../../request/context.ts'
import { maxScans, parseBatch } from './check-in-input.ts'
import { checkInTickets, type ScanOutcome } from './check-in-tickets.ts'
import { CheckInResultRef, scanFields } from './graphql.ts'

const PayloadRef = builder.objectRef<{ results: ScanOutcome[] }>('CheckInTicketsPayload').implement({
  description: 'Outcomes of scans that were uploaded together.',
  fields: (t) => ({
    results: t.field({
      type: [CheckInResultRef],
      description:
        'Outcome of each scan, in the order of the request. A scan that is not valid, or whose nonce was used for another one, is `Refused` by itself.',
      // The mutation field counts the scans.
      complexity: { field: 1, multiplier: 1 },
      resolve: ({ results }) => results,
    }),
  }),
})

const ResultRef = resultUnion(
  'CheckInTicketsResult',
  PayloadRef,
  'Outcomes of scans, or the errors if there were none or too many.',
)

const ScanInputRef = builder.inputType('CheckInScanInput', {
  description: 'Scan that was made while the scanner was offline.',
  fields: (t) => ({
    qrCode: t.string({
      description: 'Code that was scanned. Required unless `ticketId` is given. Give exactly one of the two.',
    }),
    ticketId: t.id({ description: 'Ticket identifier, for a check-in without a scan.' }),
    ...scanFields(t),
  }),
})

const InputRef = builder.inputType('CheckInTicketsInput', {
  description: 'Scans that are uploaded together.',
  fields: (t) => ({
    scans: t.field({
      type: [ScanInputRef],
      required: true,
      description: `Scans in any order, 1 to ${maxScans}.`,
    }),
  }),
})

builder.mutationField('checkInTickets', (t) =>
  t.field({
    type: ResultRef,
    description:
      "Uploads scans that were made while a scanner was offline: checks people with tickets of the integration's organization in or out, each scan with an outcome of its own. Integrations only. Scans are decided in the order of their times `at`: if two doors let the same ticket in, the earlier scan is `OK` and the later one `ALREADY_ENTERED`. A result that was once given stands: a scan that arrives after a later one was counted may be `ALREADY_ENTERED` or `NOT_INSIDE`, so that no more people were ever inside than the ticket admits. Each scan is idempotent by its `nonce`, also against `checkInTicket`.",
    args: { input: t.arg({ type: InputRef, required: true, description: 'Scans.' }) },
    complexity: ({ input }) => ({ field: 1_000, multiplier: Math.min(maxScans, input.scans.length) }),
    resolve: (_root, { input }, ctx) =>
      catchRefusal(async () => {
        requireIntegration(ctx)
        return { results: await checkInTickets(parseBatch(input), ctx) }
      }),
  }),
)
