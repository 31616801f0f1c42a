import { loadRow } from '../../engine/data/batch-loader.ts'
import { locations } from './table.ts'

/** Loads locations that a visible row leads to. What a caller names goes through `node`. */
export const locationById = loadRow('location_by_id', locations)
