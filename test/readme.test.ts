import { existsSync, readdirSync, readFileSync } from 'node:fs'
import t from 'tap'
import { kinds } from '../src/store/kinds/kinds.js'

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

t.test('each recipe is run by a test, or the page says that it is not', async (t) => {
  const [recipes = '', tried = ''] = read('docs/clients.md').split('\n## Which of these are tried\n')
  const clients = [...recipes.matchAll(/^## (.+)$/gm)].map(([, client = '']) => client)
  t.ok(clients.length >= 8, clients.join(', '))
  const [run = '', notRun = ''] = tried.split('No package registry has')
  for (const client of clients) {
    const isRun = existsSync(new URL(`clients/recipe/${client.toLowerCase()}.nightly.ts`, import.meta.url))
    t.ok((isRun ? run : notRun).includes(client), `${client} is ${isRun ? '' : 'not '}run`)
  }
})

t.test('the limits list the kinds of store that are served, and no other', async (t) => {
  const [, section = ''] = /\n- Store kinds served: (.*?)\n- /s.exec(read('docs/limits.md')) ?? []
  const named = [...section.matchAll(/`(\w+)`/g)].map(([, name]) => name)
  t.strictSame(named.sort(), Object.keys(kinds).sort())
})

/** The names that renderers give to headings. */
const anchorsOf = (page: string): string[] =>
  [...page.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\w\s-]/g, '')
      .replaceAll(' ', '-'),
  )

t.test('every page, heading, file and picture that the README and the pages of docs name is there', async (t) => {
  const pages = ['README.md', ...readdirSync(new URL('../docs', import.meta.url)).map((name) => `docs/${name}`)]
  for (const page of pages.filter((name) => name.endsWith('.md'))) {
    const links = [...read(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link)
    for (const link of links.filter((one) => !/^\w+:/.test(one))) {
      const [path = '', anchor] = link.split('#')
      const own = new URL(`../${page}`, import.meta.url)
      const target = path === '' ? own : new URL(path, own)
      t.ok(existsSync(target), `${page}: ${link}`)
      if (anchor !== undefined) t.ok(anchorsOf(readFileSync(target, 'utf8')).includes(anchor), `${page}: ${link}`)
    }
  }
})
