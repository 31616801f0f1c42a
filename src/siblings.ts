import { byKey, type Find, findTogether, isIdentifier } from './batch.ts'
import type { Database } from './database.ts'
import { Loader } from './loader.ts'

type Siblings<Lists> = { [Name in keyof Lists]: Find<Lists[Name]> & { key: (row: Lists[Name]) => string } }

/** Loads lists that belong to the same kind of parent, which `by` names: those that are asked for at once, for the same
 *  keys, in one statement. Whoever sees a parent sees all of its lists. */
export function loadSiblings<Lists extends Record<string, unknown>>(
  db: Database,
  by: string,
  siblings: Siblings<Lists>,
): { [Name in keyof Lists]: Loader<Lists[Name][]> } {
  type Row = Lists[keyof Lists]
  type Asked = { names: Set<string>; found: Promise<Map<string, Map<string, Row[]>>> }
  const asked = new Map<string, Asked>()

  async function find(id: string, keys: readonly string[], names: Set<string>) {
    // Whoever asks in the same tick asks with the others.
    await null
    asked.delete(id)
    const chosen = Object.keys(siblings).filter((name) => names.has(name))
    const finds = chosen.map((name) => siblings[name] as Find<Row> & { key: (row: Row) => string })
    const known = keys.filter(isIdentifier)
    const rows = known.length > 0 ? await findTogether(db, `${chosen.join('_')}_by_${by}`, finds, known) : []
    return new Map(
      chosen.map((name, kind) => [name, byKey(rows[kind] ?? [], (row) => finds[kind]?.key(row) ?? '')]),
    )
  }

  const load = async (name: string, keys: readonly string[]): Promise<Row[][]> => {
    const id = keys.join(' ')
    const names = new Set<string>()
    const together = asked.get(id) ?? { names, found: find(id, keys, names) }
    asked.set(id, together)
    together.names.add(name)
    const found = (await together.found).get(name)
    return keys.map((key) => found?.get(key) ?? [])
  }
  const loaders = Object.keys(siblings).map((name) => [name, new Loader((keys) => load(name, keys))])
  return Object.fromEntries(loaders)
}
