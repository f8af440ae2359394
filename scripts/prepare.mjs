// What `npm start` (with the word `serve`), tests and benches need on a fresh clone: dependencies, then a build; also modules, but to serve.
import { installAll, installServed, run } from './install.mjs'

if (process.argv[2] === 'serve') installServed()
else installAll()
run(process.execPath, ['scripts/build.mjs'])
if (process.argv[2] !== 'serve') await (await import('./build-tests.mjs')).buildTests()
