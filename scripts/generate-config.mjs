// What derives from schema/: the types of a normalised configuration and the reference page.
import { configPage } from './config-page.mjs'
import { configTypes } from './config-types.mjs'

export const generate = async () =>
  new Map([
    ['src/config/generated/options.ts', await configTypes()],
    ['docs/configuration.md', configPage()],
  ])
