import { createHash } from 'node:crypto'
import { appendFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Fate } from './trial.js'

/** What is known of faults by their keys, kept line by line, so that a run that was broken off goes on where it was. */
export class Progress {
  readonly fates = new Map<string, Fate>()
  readonly #file: string | undefined

  /** A file of another state of the suite is begun anew: its fates are that state's. Without a file nothing is kept. */
  constructor(file: string | undefined) {
    this.#file = file
    if (file === undefined) return
    const [head, ...lines] = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : []
    if (head === suiteState()) for (const line of lines.filter((text) => text !== '')) this.#take(JSON.parse(line))
    else writeFileSync(file, `${suiteState()}\n`)
  }

  note(key: string, fate: Fate): void {
    this.#take([key, fate])
    if (this.#file !== undefined) appendFileSync(this.#file, `${JSON.stringify([key, fate])}\n`)
  }

  #take([key, fate]: [string, Fate]): void {
    this.fates.set(key, fate)
  }
}

const folder = fileURLToPath(new URL('../..', import.meta.url))

/** Changes with every line of the suite. */
const suiteState = (): string => {
  const hash = createHash('sha256')
  for (const name of (readdirSync(folder, { recursive: true }) as string[]).sort()) {
    if (/\.(ts|tsv)$/.test(name) && !/^(dist|node_modules)/.test(name)) hash.update(readFileSync(`${folder}/${name}`))
  }
  return hash.digest('hex')
}
