import t from 'tap'
import { CLONES, commandsOf, OTHERWISE } from './clones.js'

t.test('each command of README.md and CONTRIBUTING.md is typed by a nightly file, or it says why not', async (t) => {
  const named = new Set(['README.md', 'CONTRIBUTING.md'].flatMap(commandsOf))
  const known = [...Object.values(CLONES).flatMap((commands) => Object.keys(commands)), ...Object.keys(OTHERWISE)]
  t.ok(named.size > 20)
  t.same([...named].sort(), known.sort())
})
