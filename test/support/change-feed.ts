import { expect } from 'vitest'
import type { Gateway } from './harness.ts'

type Headers = Record<string, string>
type Start = { after: string } | { at: 'OLDEST' | 'NOW' }

/** A change as tests name it. */
export type ChangeNode = { id: string; type: string; subjectId: string; sequence: number }

/** Selection of a change, whose subject is no row in some tests. */
export const changeFields = 'id type sequence subject { ... on Node { id } }'
type Selected = Omit<ChangeNode, 'subjectId'> & { subject: { id: string } }

/** Names the subject of a change that was selected by `changeFields`. */
const toChangeNode = ({ subject, ...change }: Selected): ChangeNode => ({
  ...change,
  subjectId: subject.id,
})

/** Start behind a cursor, or at the oldest change. */
export const startAt = (after?: string | null): Start => (after ? { after } : { at: 'OLDEST' })

const query = `query ($from: FeedStart!, $types: [ChangeType!], $first: Int! = 50) {
  changes(from: $from, types: $types, first: $first) {
    nodes { ${changeFields} } edges { cursor } pageInfo { hasNextPage hasPreviousPage endCursor } } }`

type Answer = {
  changes: {
    nodes: Selected[]
    edges: { cursor: string }[]
    pageInfo: { hasNextPage: boolean; hasPreviousPage: boolean; endCursor: string }
  }
}

/** Reads one page of the feed. */
export async function readChangesPage(
  gateway: Pick<Gateway, 'graphql'>,
  headers: Headers,
  { from = startAt(), ...variables }: { from?: Start; first?: number; types?: string[] } = {},
) {
  const { data, errors } = await gateway.graphql<Answer>(query, { from, ...variables }, headers)
  expect(errors).toBeUndefined()
  if (!data) throw new Error('the feed returned no data')
  const { nodes, edges, pageInfo } = data.changes
  return { nodes: nodes.map(toChangeNode), cursors: edges.map(({ cursor }) => cursor), ...pageInfo }
}

/** Reads all changes after a cursor, page by page. Returns them with the last cursor. */
export async function readChanges(
  gateway: Pick<Gateway, 'graphql'>,
  headers: Headers,
  after: string | null = null,
  first = 50,
): Promise<{ nodes: ChangeNode[]; end: string }> {
  const nodes: ChangeNode[] = []
  let from = startAt(after)
  for (;;) {
    const page = await readChangesPage(gateway, headers, { from, first })
    nodes.push(...page.nodes)
    if (!page.hasNextPage) return { nodes, end: page.endCursor }
    from = { after: page.endCursor }
  }
}

/** Returns the error code for a cursor, or undefined if the feed accepts it. */
export async function cursorRefusal(gateway: Pick<Gateway, 'graphql'>, headers: Headers, after: string) {
  const { data, errors } = await gateway.graphql<Answer>(query, { from: { after } }, headers)
  expect(data?.changes === null).toBe(errors !== undefined)
  return errors?.[0]?.extensions?.code
}
