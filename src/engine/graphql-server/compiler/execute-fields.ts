import { json } from '../../json/json-writer.ts'
import type { RootField } from './compile.ts'
import type { ResponseBuffer } from './response-buffer.ts'

/** Result or error of each mutation field that has run, by response key. graphql-js continues from there. */
export type Outcomes = Map<string, Promise<unknown>>

const begin = Buffer.from('{"data":{')
const end = Buffer.from('}}')

const keyLiteral = ({ responseKey }: RootField, index: number) =>
  Buffer.from(`${index > 0 ? ',' : ''}${JSON.stringify(responseKey)}:`)

/** Resolves the root fields in parallel and completes them once all are resolved, so that the response is
 *  usually one piece. Waits for every field even if one fails, so that no rejection stays unhandled. */
export async function executeFields(fields: RootField[], response: ResponseBuffer): Promise<void> {
  const settled = await Promise.allSettled(fields.map(async ({ resolve }) => resolve(response)))
  const values = settled.map((outcome) => {
    if (outcome.status === 'rejected') throw outcome.reason
    return outcome.value
  })
  response.write(() => {
    json.raw(begin)
    for (const [index, field] of fields.entries()) {
      json.raw(keyLiteral(field, index))
      field.completeValue(values[index], response)
    }
    json.raw(end)
  })
  await response.settle()
}

/** Executes the root fields of a mutation one after the other, each with its whole selection. */
export async function executeSerially(fields: RootField[], response: ResponseBuffer, outcomes: Outcomes) {
  response.write(() => json.raw(begin))
  for (const [index, field] of fields.entries()) {
    const outcome = (async () => field.resolve(response))()
    outcomes.set(field.responseKey, outcome)
    const value = await outcome
    response.write(() => {
      json.raw(keyLiteral(field, index))
      field.completeValue(value, response)
    })
    await response.settle()
  }
  response.write(() => json.raw(end))
}
