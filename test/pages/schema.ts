/** The form of the pages' JSON. */
import { readFile } from 'node:fs/promises'
import { Ajv2020 } from 'ajv/dist/2020.js'

const schema = JSON.parse(await readFile('docs/pages.schema.json', 'utf8')) as { $id: string; $defs: object }
const ajv = new Ajv2020({ allErrors: true, formats: { 'date-time': true } })
ajv.addSchema(schema)

/** Returns what is wrong with a value that should be the JSON of this page; undefined if nothing is. */
export const check = (name: string) => {
  const validate = ajv.getSchema(`${schema.$id}#/$defs/${name}`)
  if (validate === undefined) throw new Error(`docs/pages.schema.json has no ${name}`)
  return (value: unknown): string | undefined => (validate(value) ? undefined : ajv.errorsText(validate.errors))
}
