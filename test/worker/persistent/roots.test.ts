import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { noWorkers, setUp, type ToolAction } from './set-up.js'

t.test('the second request has one input changed, one removed and one new', { skip: noWorkers }, async (t) => {
  const { runTool, start, digestOf, text } = await setUp(t)
  const first = {
    steps: ['list out', 'write left stale', 'write d/deep/left stale'],
    inputs: { a: '1', b: '2', 'd/c': '3' },
  }
  const steps = ['list out', 'copy a copied', 'exists b without', 'copy d/e new', 'inputs named', 'exists d/c gone']
  const second: ToolAction = {
    ...{ steps, outputs: ['out', 'copied', 'without', 'new', 'named', 'gone'] },
    inputs: { a: 'changed', 'd/e': '4' },
  }
  const before = await runTool(first)
  t.equal(before.out, ['a', 'b', 'd/', 'd/c', 'params.txt', 'tool.mjs'].join('\n'))
  const { files, process } = await runTool(second)
  t.equal(process.processRequest, 2)
  t.equal(files['out'], ['a', 'd/', 'd/e', 'params.txt', 'tool.mjs'].join('\n'), 'nothing is left of the first request')
  t.match(files, { copied: 'changed', without: 'false', new: '4', gone: 'false' })
  t.match(files['named'], /^a [0-9a-f]{64}$/m, 'all inputs are named with their hashes')
  t.equal(files['named']?.split('\n').length, 4, 'and no others')
  // The same without a process.
  const alone = await start(digestOf({ ...second, steps: steps.filter((step) => !step.startsWith('inputs')) }))
  const outputs = alone.executeResponse?.result?.outputFiles ?? []
  for (const { path = '', digest } of outputs) t.equal(text(digest as never), files[path], `${path} is the same`)
})

t.test('files become directories, and directories files, between two requests', { skip: noWorkers }, async (t) => {
  const { runTool } = await setUp(t)
  await runTool({ steps: ['list out'], inputs: { x: 'file', 'y/z': 'below' } })
  const { out, process } = await runTool({ steps: ['list out'], inputs: { 'x/z': 'below', y: 'file' } })
  t.equal(process.processRequest, 2)
  t.equal(out, ['params.txt', 'tool.mjs', 'x/', 'x/z', 'y'].join('\n'))
})

t.test('random input roots one after the other are each what was asked for', { skip: noWorkers }, async (t) => {
  const { runTool } = await setUp(t)
  let seed = 7
  const draw = (below: number): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31
    return Math.floor((seed / 2 ** 31) * below)
  }
  for (let round = 0; round < 25; round++) {
    const inputs: Record<string, string> = {}
    const folders = ['', 'd/', 'e/', 'f/']
    for (let count = draw(12); count > 0; count--) {
      const folder = folders[draw(folders.length)] ?? ''
      inputs[`${folder}n${draw(6)}`] = String(draw(4))
    }
    const names = Object.keys(inputs).sort()
    const copies = names.map((name) => `copy ${name} all/${name}`)
    const { files, process } = await runTool({
      steps: ['write all/none x', 'list out', ...copies],
      ...{ inputs, outputs: ['out', ...names.map((name) => `all/${name}`)] },
    })
    t.equal(process.processRequest, round + 1)
    const dirs = new Set(names.filter((name) => name.includes('/')).map((name) => `${name.split('/')[0]}/`))
    // Parents of outputs are made for the action.
    const parents = ['all/', 'all/none', ...[...dirs].map((dir) => `all/${dir}`)]
    const expected = [...names, ...dirs, ...parents, 'params.txt', 'tool.mjs'].sort()
    t.same(files['out']?.split('\n').sort(), expected)
    for (const name of names) t.equal(files[`all/${name}`], inputs[name])
  }
})

for (const step of ['rewrite a other', 'rewrite-unseen a 2', 'replace a other']) {
  t.test(
    `a process that changes an input ends, and nobody sees the change: ${step}`,
    { skip: noWorkers },
    async (t) => {
      const { runTool, pool, store } = await setUp(t)
      const inputs = { a: '1' }
      await runTool({ steps: ['copy a out'], inputs })
      await runTool({ steps: [step, 'copy a out'], inputs })
      const after = await runTool({ steps: ['copy a out'], inputs })
      t.equal(after.out, '1')
      t.equal(after.process.processRequest, 1, 'a new process')
      t.equal(pool.counts.ends.changed + pool.counts.ends.request, 1)
      t.ok(store)
    },
  )
}

t.test('a request that leaves a process behind is the last of its process', { skip: noWorkers }, async (t) => {
  const { runTool, pool } = await setUp(t)
  await runTool({ steps: ['facts out'] })
  const left = await runTool({ steps: ['facts out', 'child'] })
  t.equal(left.process.processRequest, 2)
  const after = await runTool({ steps: ['facts out'] })
  t.equal(after.process.processRequest, 1)
  t.equal(pool.processes.length, 1)
})

t.test('a worker that is closed leaves no process and no directory', { skip: noWorkers }, async (t) => {
  const { runTool, pool, rest, directory } = await setUp(t)
  const { out } = await runTool({ steps: ['facts out'] })
  const [pid] = (out ?? '').split(' ')
  t.ok(readdirSync('/proc').includes(pid ?? ''))
  await pool.close()
  t.notOk(readdirSync('/proc').includes(pid ?? ''))
  t.same(await rest(), [])
  t.ok(readdirSync(join(directory, 'work')))
})
