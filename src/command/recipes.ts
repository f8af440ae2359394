import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { packageFile } from '../base/package-root.js'

const folder = fileURLToPath(packageFile('deploy/recipes/'))

/** A tested configuration of the package: a folder with its files and a page about it. */
export interface Recipe {
  readonly name: string
  /** The title of its page. */
  readonly title: string
  /** The page, an absolute path. */
  readonly page: string
  /** Names of its configuration files. */
  readonly files: readonly string[]
}

/** The absolute path of a file of a recipe. */
export const recipeFile = (recipe: string, file: string): string => join(folder, recipe, file)

/** Every recipe of this package, by name. */
export const recipes = (): readonly Recipe[] =>
  readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => recipeOf(name))
    .sort((a, b) => (a.name < b.name ? -1 : 1))

const recipeOf = (name: string): Recipe => {
  const page = recipeFile(name, 'README.md')
  const [heading = ''] = readFileSync(page, 'utf8').split('\n', 1)
  const files = readdirSync(join(folder, name)).filter((file) => file.endsWith('.json5'))
  return { name, title: heading.replace(/^# */, ''), page, files: files.sort() }
}
