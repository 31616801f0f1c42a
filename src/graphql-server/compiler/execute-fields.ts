import { toLiteral } from '../../json/encoded-literal.ts'
import { json } from '../../json/json-writer.ts'
import type { RootField } from './compile.ts'
import type { Run } from './response-buffer.ts'

/** How each field of a mutation came out, for the standard way to go on from. */
export type Outcomes = Map<string, () => unknown>

const begin = toLiteral('{"data":{')
const end = toLiteral('}}')

const nameOf = ({ key }: RootField, index: number) =>
  toLiteral(`${index > 0 ? ',' : ''}${JSON.stringify(key)}:`)

/** Writes the answer of fields once all of them are there, so that as a rule it is written in one piece. Each is waited
 *  for, even where one fails, so that none is left alone. */
export async function writeTogether(fields: RootField[], run: Run): Promise<void> {
  const settled = await Promise.allSettled(fields.map(async ({ resolve }) => resolve(run)))
  const values = settled.map((one) => {
    if (one.status === 'rejected') throw one.reason
    return one.value
  })
  run.write(() => {
    json.raw(begin)
    for (const [index, field] of fields.entries()) {
      json.raw(nameOf(field, index))
      field.write(values[index], run)
    }
    json.raw(end)
  })
  await run.settle()
}

/** Writes the answer of fields that are resolved one after the other, each with all that is selected of it. */
export async function writeInTurn(fields: RootField[], run: Run, outcomes: Outcomes): Promise<void> {
  run.write(() => json.raw(begin))
  for (const [index, field] of fields.entries()) {
    const value = await recorded(() => field.resolve(run), field.key, outcomes)
    run.write(() => {
      json.raw(nameOf(field, index))
      field.write(value, run)
    })
    await run.settle()
  }
  run.write(() => json.raw(end))
}

async function recorded(resolve: () => unknown, key: string, outcomes: Outcomes): Promise<unknown> {
  try {
    const value = await resolve()
    outcomes.set(key, () => value)
    return value
  } catch (error) {
    outcomes.set(key, () => {
      throw error
    })
    throw error
  }
}
