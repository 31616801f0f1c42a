/** An hour in milliseconds. */
export const hour = 3_600_000
