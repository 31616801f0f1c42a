// Takes out of node_modules, in the folder where it is run, what the service never reads: `exports` of drizzle-orm, which Node
// reads again for each of its files and which slow down each start, and weights of fonts that no ticket has. The Dockerfile runs
// it. It fails where a package is not as it is known here; what is missing afterwards fails when it is imported
// (test/unit/deploy/images.test.ts compares the list with what is imported, test/long/production-install.test.ts runs it).

import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const used = ['.', './migrator', './pg-core', './pglite', './postgres-js']

function trimExports(folder) {
  const file = join(folder, 'package.json')
  const description = JSON.parse(readFileSync(file, 'utf8'))
  const entries = used.map((name) => [name, description.exports[name]])
  const missing = entries.filter(([, target]) => target === undefined).map(([name]) => name)
  if (missing.length > 0) throw new Error(`${file} exports no ${missing.join(', ')}`)
  writeFileSync(file, JSON.stringify({ ...description, exports: Object.fromEntries(entries) }))
}

/** Removes the fonts of a folder that no pattern matches, each of which must match some. */
function trimFonts(folder, ...kept) {
  const fonts = readdirSync(folder, { recursive: true }).filter((name) => /\.(ttf|woff2?)$/.test(name))
  const unmatched = kept.filter((pattern) => !fonts.some((name) => pattern.test(name)))
  if (unmatched.length > 0) throw new Error(`${folder} has no ${unmatched.join(', ')}`)
  for (const name of fonts) if (!kept.some((pattern) => pattern.test(name))) rmSync(join(folder, name))
}

trimExports('node_modules/drizzle-orm')
trimFonts('node_modules/@expo-google-fonts/noto-sans-jp', /_400Regular\.ttf$/, /_700Bold\.ttf$/)
for (const family of ['noto-sans', 'noto-sans-hebrew', 'vazirmatn'])
  trimFonts(`node_modules/@fontsource/${family}`, /-400-normal\.woff$/, /-700-normal\.woff$/)
trimFonts('node_modules/@fontsource/unifont', /-latin-400-normal\.woff$/)
