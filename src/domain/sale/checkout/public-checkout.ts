import type { Caller } from '../../../auth/caller.ts'
import { includesOrigin } from '../../../auth/publishable-origins.ts'
import { type Problem, problem, refuseIf } from '../../../shared/errors.ts'
import type { CheckoutInput } from './checkout-input.ts'

type Public = Extract<Caller, { kind: 'publishable' }>

/** Checks what a browser may not choose in a checkout: the code of a ticket, which would tell which codes are
 *  taken, and a page of somebody else to send the buyer to. Refuses: INVALID (DECISIONS 10). */
export function checkPublicInput(input: CheckoutInput, { origins }: Public): void {
  const codes = input.tickets.flatMap(({ qrCode }, index): Problem[] =>
    qrCode
      ? [problem('INVALID', 'A publishable key chooses no code of a ticket.', ['tickets', index, 'qrCode'])]
      : [],
  )
  const addresses = (['redirectUrl', 'errorUrl'] as const).flatMap((name): Problem[] => {
    const url = input[name]
    if (!url || includesOrigin(new Set(origins), new URL(url).origin)) return []
    return [problem('INVALID', `${name} must be a page of an origin of the publishable key.`, [name])]
  })
  refuseIf([...codes, ...addresses])
}
