import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** What the linter says about each of these files of a folder, by the rules of this checkout. */
export const findingsIn = (t: Test, inFolder: 'src' | 'test', texts: readonly string[]): readonly string[] => {
  const rules = JSON.parse(readFileSync(`${root}/biome.json`, 'utf8'))
  for (const one of rules.overrides) one.plugins = one.plugins?.map((path: string) => `${root}/${path}`)
  const folder = t.testdir({
    'biome.json': JSON.stringify({ ...rules, root: true, vcs: { enabled: false }, files: {} }),
    [inFolder]: Object.fromEntries(texts.map((text, at) => [`${at}.ts`, `${text}\n`])),
  })
  const args = ['lint', '--reporter=github', '--max-diagnostics=none', inFolder]
  const { stdout, error } = spawnSync(`${root}/node_modules/.bin/biome`, args, {
    cwd: folder,
    encoding: 'utf8',
  })
  t.error(error)
  const lines = stdout.split('\n')
  return texts.map((_, at) => lines.filter((line) => line.includes(`/${inFolder}/${at}.ts,`)).join('\n'))
}
