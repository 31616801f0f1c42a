import { expect } from 'vitest'
import type { Gateway } from './harness.ts'

type Headers = Record<string, string>

/** A change as the feed returns it. */
export type ChangeNode = { id: string; type: string; subjectId: string; sequence: number }

const query = `query ($after: String, $first: Int! = 50) { changes(after: $after, first: $first) {
  nodes { id type subjectId sequence } edges { cursor } pageInfo { hasNextPage endCursor } } }`

type Answer = {
  changes: {
    nodes: ChangeNode[]
    edges: { cursor: string }[]
    pageInfo: { hasNextPage: boolean; endCursor: string | null }
  }
}

/** Reads one page of the feed. */
export async function readChangesPage(
  gateway: Pick<Gateway, 'graphql'>,
  headers: Headers,
  variables: { after?: string | null; first?: number } = {},
) {
  const { data, errors } = await gateway.graphql<Answer>(query, variables, headers)
  expect(errors).toBeUndefined()
  if (!data) throw new Error('the feed returned no data')
  const { nodes, edges, pageInfo } = data.changes
  return { nodes, cursors: edges.map(({ cursor }) => cursor), ...pageInfo }
}

/** Reads all changes after a cursor, page by page. Returns them with the last cursor. */
export async function readChanges(
  gateway: Pick<Gateway, 'graphql'>,
  headers: Headers,
  after: string | null = null,
  first = 50,
): Promise<{ nodes: ChangeNode[]; end: string | null }> {
  const nodes: ChangeNode[] = []
  let end = after
  for (let goesOn = true; goesOn; ) {
    const page = await readChangesPage(gateway, headers, { after: end, first })
    nodes.push(...page.nodes)
    end = page.endCursor
    goesOn = page.hasNextPage
  }
  return { nodes, end }
}

/** Returns the error code for a cursor, or undefined if the feed accepts it. */
export async function cursorRefusal(gateway: Pick<Gateway, 'graphql'>, headers: Headers, after: string) {
  const { data, errors } = await gateway.graphql<Answer>(query, { after }, headers)
  expect(data?.changes === null).toBe(errors !== undefined)
  return errors?.[0]?.extensions?.code
}
