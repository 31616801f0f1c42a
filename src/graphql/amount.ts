import { toMajor } from '../shared/money.ts'

/** Options of a field that shows an amount of its parent, kept in minor units, in major units. */
export const amount = <Parent extends { currency: string }>(
  description: string,
  minorOf: (parent: Parent) => number,
) => ({
  description,
  resolve: (parent: Parent) => toMajor(minorOf(parent), parent.currency),
})
