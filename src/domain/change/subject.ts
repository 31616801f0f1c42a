import { ofStock } from '../ticket-rate/table.ts'
import type { Change } from './table.ts'

/** Identifier of the payment, ticket or rate that changed, as clients know it. */
export const subjectOf = ({ subjectId }: Pick<Change, 'subjectId'>): string => ofStock(subjectId).id
