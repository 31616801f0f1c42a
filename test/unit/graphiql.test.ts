import { expect, test } from 'vitest'
import { editor } from '../../src/app/graphiql-tabs.ts'
import { graphiqlPage } from '../../src/engine/graphql-server/graphiql/page.ts'

test('GraphiQL is shown again once the examples are found: a failure does not last', async () => {
  let failures = 1
  const page = graphiqlPage(editor, async () => {
    if (failures-- > 0) throw new Error('the database is away')
    return undefined
  })
  await expect(page()).rejects.toThrow('the database is away')
  const shown = await page()
  expect(shown.answer.headers['content-type']).toMatch('text/html')
  expect(await page()).toBe(shown)
})
