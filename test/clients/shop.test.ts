import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

// The shop of examples/shop/, whose documents and their types GraphQL Code Generator writes. What it does is in
// test/system/shop.test.ts.

test('the documents of the shop are those that the generator writes', async () => {
  const cwd = fileURLToPath(new URL('shop/', import.meta.url))
  const checked = promisify(execFile)('sh', ['generate.sh', '--check'], { cwd })
  await expect(checked).resolves.toMatchObject({ stderr: expect.any(String) })
})
