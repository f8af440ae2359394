import { constants, copyFileSync, existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { columns } from '../base/columns.js'
import { errnoOf, inWords } from '../base/errno.js'
import { StatusError } from '../base/status-error.js'
import { nearest } from '../config/suggest.js'
import { type Command, UsageError } from './command.js'
import { type Recipe, recipeFile, recipes } from './recipes.js'

export const init: Command = {
  name: 'init',
  usage: [
    ['', 'list the recipes'],
    ['RECIPE [DIR]', 'write the commented configuration of a recipe into DIR'],
  ],
  options: {},
  run: async ({ words: [name, folder = '.', ...more] }, { print }) => {
    const all = recipes()
    if (more.length > 0) throw new UsageError(`expected RECIPE and DIR, found ${more[0]} too`)
    if (name === undefined) {
      print(`${columns(all.map((recipe) => [recipe.name, recipe.title])).join('\n')}\n`)
      return 0
    }
    const recipe = all.find((one) => one.name === name)
    if (recipe === undefined) throw new UsageError(unknown(name, all))
    const written = write(recipe, folder)
    print(`${written.map((path) => `wrote ${path}`).join('\n')}\n`)
    print(`read  ${recipe.page}\n`)
    print(`then  ${written.map((path) => `remexec validate ${path} && remexec ${path}`).join('\n      ')}\n`)
    return 0
  },
}

const unknown = (name: string, all: readonly Recipe[]): string => {
  const names = all.map((recipe) => recipe.name)
  const meant = nearest(name, names)
  return `there is no recipe ${name}${meant === undefined ? '' : `: did you mean ${meant}?`}; expected one of ${names.join(', ')}`
}

/** Writes every file or none. FAILED_PRECONDITION if one exists, because it may have been edited. */
const write = ({ name, files }: Recipe, folder: string): string[] => {
  const targets = files.map((file) => join(folder, file))
  const present = targets.find((path) => existsSync(path))
  if (present !== undefined)
    throw new StatusError('FAILED_PRECONDITION', `${present} exists already; nothing was written`)
  try {
    mkdirSync(folder, { recursive: true })
    for (const file of files) copyFileSync(recipeFile(name, file), join(folder, file), constants.COPYFILE_EXCL)
  } catch (error) {
    if (errnoOf(error) === undefined) throw error
    throw new StatusError('FAILED_PRECONDITION', `${folder}: cannot be written: ${inWords(error)}`)
  }
  return targets
}
