// What scripts of package.json need on a fresh clone: dependencies, then a build. `serve` (`npm start`, `npm run build`): what serving needs. `tools`: all
// dependencies and no build. Without a word: all of them, a build, and the modules that tests and benches import.
import { installAll, installServed, run } from './install.mjs'

const [, , need] = process.argv
if (need === 'serve') installServed()
else installAll()
if (need !== 'tools') run(process.execPath, ['scripts/build.mjs'])
if (need === undefined) await (await import('./build-tests.mjs')).buildTests()
