import { builder } from '../../graphql/builder.ts'

/** Ticket at the door or at the bar. */
export const ScannedTicketInputRef = builder.inputType('ScannedTicketInput', {
  isOneOf: true,
  description: 'Ticket at the door or at the bar: the code that was scanned, or an identifier.',
  fields: (t) => ({
    qrCode: t.string({ description: 'Code that was scanned.' }),
    ticketId: t.id({ description: 'Ticket identifier, where nothing was scanned.' }),
  }),
})
