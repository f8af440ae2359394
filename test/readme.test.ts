import { readFileSync } from 'node:fs'
import t from 'tap'

const read = (path: string): string => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8')

t.test('the configuration in the README is the fixture that the validator tests load', async (t) => {
  const [, shown] = /```json5\n(.*?)```/s.exec(read('README.md')) ?? []
  t.equal(shown, read('fixtures/configs/readme.json5'))
})

t.test('the commands in the README exist', async (t) => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }
  const named = [...read('README.md').matchAll(/npm (start|test|run [a-z]+)/g)].map(([, name = '']) =>
    name.replace('run ', ''),
  )
  t.ok(named.length > 3)
  for (const name of named) t.ok(scripts[name], `npm run ${name}`)
})
