/** The files of a release for arm64, which no machine here can run: what is in them. */
import t from 'tap'
import { run } from './clients/process.js'
import { scratchFolder } from './clients/scratch.js'
import { buildFiles, checkContents } from './package-files.js'

// For changes in: scripts/package, scripts/build.mjs, package.json, package-lock.json

t.setTimeout(1_150_000)

const folder = await scratchFolder(t)

t.test('both files for arm64 have its Node and its native modules', async (t) => {
  const files = await buildFiles(t, folder, 'arm64')
  await checkContents(t, folder, 'arm64', files)
  if (process.arch === 'x64')
    t.match(await run(files.single, ['--version'], folder, process.env), { code: 1, output: /is for arm64/ })
})
