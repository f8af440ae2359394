import { readdirSync } from 'node:fs'

/** Folder of the configurations that exist for tests. */
export const fixtures = new URL('../fixtures/configs/', import.meta.url)

/** The configuration of `npm start` and `remexec start`, relative to `fixtures`. */
export const DEFAULT = '../../deploy/recipes/machine/remexec.json5'

const recipes = new URL('../deploy/recipes/', import.meta.url)

/** Configurations without errors, relative to `fixtures`: those for tests and those of the recipes. */
export const goodConfigs: readonly string[] = [
  ...readdirSync(fixtures).filter((name) => /\.json5?$/.test(name)),
  ...readdirSync(recipes, { recursive: true, encoding: 'utf8' })
    // test/recipes.test.ts serves `ci`, test/recipe-company.test.ts `company` and test/deploy/servers.nightly.ts `servers`: these need a certificate and tokens.
    .filter((path) => path.endsWith('.json5') && !/^(ci|company|servers)\//.test(path))
    .map((path) => `../../deploy/recipes/${path}`),
]
