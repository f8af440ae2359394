// What derives from schema/: the types of a normalised configuration, the check of one, and the reference page.
import { configPage } from './config-page.mjs'
import { configTypes } from './config-types.mjs'
import { configValidator } from './config-validator.mjs'

export const generate = async () =>
  new Map([
    ['src/config/generated/options.ts', await configTypes()],
    ['src/config/generated/validator.ts', configValidator()],
    ['docs/configuration.md', configPage()],
  ])
