// Writes every generated file of the repository. With --check it writes nothing, lists the files that differ from what
// their sources say, and exits 1 when there are any.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Each step is a module whose `generate()` resolves to a Map from path (relative to the repository) to text or bytes. */
const steps = ['./generate-protos.mjs', './generate-descriptors.mjs', './generate-config.mjs', './generate-gear.mjs']

const root = new URL('..', import.meta.url)
const check = process.argv.includes('--check')
const drifted = []

for (const step of steps.filter((path) => existsSync(new URL(path, import.meta.url)))) {
  const { generate } = await import(step)
  for (const [path, content] of await generate()) {
    const file = new URL(path, root)
    if (existsSync(file) && readFileSync(file).equals(Buffer.from(content))) continue
    drifted.push(path)
    if (check) continue
    mkdirSync(dirname(fileURLToPath(file)), { recursive: true })
    writeFileSync(file, content)
  }
}

if (check && drifted.length > 0) {
  process.stderr.write(`out of date, run "npm run generate":\n${drifted.map((path) => `  ${path}\n`).join('')}`)
  process.exit(1)
}
