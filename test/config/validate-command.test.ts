import { join } from 'node:path'
import t from 'tap'
import { validateCommand } from '../../src/config/validate-command.js'

const fine = `{ stores: { S: { noop: {} } }, servers: [{ listener: { http: { socket_address: ':1' } }, services: { cas: [{ cas_store: 'S' }] } }] }`

const run = async (paths: readonly string[], format: 'human' | 'json') => {
  let output = ''
  const status = await validateCommand(paths, { format }, (text) => {
    output += text
  })
  return { status, output }
}

t.test('the human form lists problems with positions, and a verdict for each file', async (t) => {
  const directory = t.testdir({ 'fine.json5': fine, 'wrong.json5': `{\n\tstores: [],\n\tsevers: [],\n}` })
  const { status, output } = await run([join(directory, 'fine.json5'), join(directory, 'wrong.json5')], 'human')
  t.equal(status, 1)
  t.match(output, 'fine.json5: valid (0 errors, 1 warning)')
  t.match(output, 'wrong.json5: invalid (1 error, 0 warnings)')
  t.match(output, /wrong\.json5:3:2: error: severs: unknown key "severs"\n {2}3 \| \tsevers: \[\],\n {4}\| \t\^\n/)
  t.match(output, 'did you mean "servers"?')
  t.equal((await run([join(directory, 'fine.json5')], 'human')).status, 0)
})

t.test('the JSON form is one array', async (t) => {
  const directory = t.testdir({ 'fine.json5': fine, 'wrong.json5': `{ stores: [] }` })
  const { status, output } = await run([join(directory, 'fine.json5'), join(directory, 'wrong.json5')], 'json')
  t.equal(status, 1)
  t.match(JSON.parse(output), [
    { severity: 'warning', path: 'servers[0].services.cas[0]', line: 1 },
    { severity: 'error', message: '"servers" is missing', line: 1, column: 1, path: '(the whole file)' },
  ])
})

t.test('a missing file is an error, no file at all is wrong usage', async (t) => {
  const { status, output } = await run([join(t.testdir(), 'nothing.json5')], 'human')
  t.equal(status, 1)
  t.match(output, 'there is no such file')
  t.notMatch(output, ' | ', 'no source line is shown of it')
  t.same(await run([], 'human'), { status: 2, output: '' })
})

t.test('a long line is cut around the place', async (t) => {
  const long = `{ stores: {}, ${' '.repeat(400)}wrong: 1, servers: [] }`
  const { output } = await run([join(t.testdir({ 'long.json5': long }), 'long.json5')], 'human')
  const [, source = '', caret = ''] = output.split('\n')
  t.ok(source.length < 200)
  t.equal(source.slice(caret.indexOf('^')).slice(0, 5), 'wrong')
})

t.test('a binary file is reported without a source line', async (t) => {
  const directory = t.testdir({ 'nul.json5': '{ stores\0: {} }', 'latin.json5': Buffer.from([0x7b, 0xe4, 0x7d]) })
  for (const name of ['nul.json5', 'latin.json5']) {
    const { status, output } = await run([join(directory, name)], 'human')
    t.equal(status, 1, name)
    t.match(output, /this is no text file: expected JSON5 in UTF-8/, name)
    t.notMatch(output, ' | ', name)
    t.notMatch(output, '\0', name)
  }
})

t.test('an unreadable file is reported with the reason', async (t) => {
  const { output } = await run([t.testdir()], 'human')
  t.match(output, /cannot be read: it is a directory \(EISDIR\)/)
})

t.test('a control character in a file does not reach the terminal', async (t) => {
  const text = `{ stores: [], servers: [], "se\u001b[31mrvers\u009b": [],\t"\\u001b[2Jb\\u0007": 1 }`
  const { output } = await run([join(t.testdir({ 'evil.json5': text }), 'evil.json5')], 'human')
  t.match(output, /unknown key/)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  t.notMatch(output.replaceAll(/[\n\t]/g, ''), /[\u0000-\u001f\u007f-\u009f]/)
  const [, source = '', caret = ''] = output.split('\n')
  t.equal(source.slice(caret.indexOf('^')).slice(0, 4), '"se\u241b', 'the caret still points at the key')
})
