/** Maps rows by their ids. */
export function byId<Row extends { id: string }>(rows: Row[]): Map<string, Row> {
  const found = new Map<string, Row>()
  for (const row of rows) found.set(row.id, row)
  return found
}

/** Groups rows by a key, in their order. */
export function groupBy<Row>(rows: Row[], key: (row: Row) => string): Map<string, Row[]> {
  const found = new Map<string, Row[]>()
  for (const row of rows) {
    const id = key(row)
    const list = found.get(id)
    if (list) list.push(row)
    else found.set(id, [row])
  }
  return found
}
