import type { Language } from '../../../language/languages.ts'
import { translate } from '../../../language/translate.ts'
import type { FoundPayment } from './find-payment.ts'

/** Describes the time left in whole minutes, never as 0 minutes. */
export function timeLeft(language: Language, seconds: number): string {
  const minutes = Math.floor(seconds / 60)
  if (minutes === 0) return translate(language, 'pay.lessThanAMinuteLeft')
  if (minutes < 60) return translate(language, 'pay.minutesLeft', { minutes })
  return translate(language, 'pay.hoursLeft', { hours: Math.floor(minutes / 60), minutes: minutes % 60 })
}

/** Fraction of the hold that is left, between 0 and 1. */
export const fractionLeft = ({ payment, secondsLeft }: FoundPayment): string =>
  Math.min(1, (secondsLeft * 1000) / (payment.expiresAt.getTime() - payment.createdAt.getTime())).toFixed(3)

/** Style of `.clock` that counts minutes and seconds down, without a script. The text within stays for screen
 *  readers, and is shown by browsers that cannot animate a number, and for more than an hour. */
export const clockStyle = (secondsLeft: number): string =>
  secondsLeft >= 3600
    ? ''
    : `@property --left { syntax: '<integer>'; inherits: true; initial-value: 0 }
@property --minutes { syntax: '<integer>'; inherits: true; initial-value: 0 }
/* Browsers that know this property animate registered integers. */
@supports (transition-behavior: allow-discrete) {
  .clock {
    position: relative; font-variant-numeric: tabular-nums; animation: count ${secondsLeft}s linear forwards;
    --minutes: calc(var(--left) / 60 - .5);
  }
  .clock::after {
    counter-reset: minutes var(--minutes) seconds calc(var(--left) - 60 * var(--minutes));
    content: counter(minutes) ':' counter(seconds, decimal-leading-zero);
  }
  .clock span { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap }
}
@keyframes count { from { --left: ${secondsLeft} } to { --left: 0 } }`
