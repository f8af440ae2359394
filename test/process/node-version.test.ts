import t from 'tap'
import { endOfLife } from '../../src/process/node-version.js'
import { DEFAULT, serve } from '../cli/program.js'

t.test('Node 20 is told to be past its end of life, 22 and 24 are not', async (t) => {
  t.match(endOfLife('20.20.2'), /^Node 20 .* April 2026: use Node 24$/)
  for (const version of ['22.15.0', '24.21.0', '2.0.0']) t.equal(endOfLife(version), undefined, version)
})

t.test('a start says it once, and only on such a version', async (t) => {
  const program = serve(t, DEFAULT, t.testdir({}))
  await program.hears(/remexec serving/)
  const lines = program.said().match(/gets no more security fixes/g) ?? []
  t.equal(lines.length, endOfLife(process.versions.node) === undefined ? 0 : 1)
})
