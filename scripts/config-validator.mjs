// The check of a configuration against schema/ as code, so that no start has to compile the schema. ajv writes the code;
// what keywords of our own check is in src/config/schema/keywords.ts.
import ajv2020 from 'ajv/dist/2020.js'
import names from 'ajv/dist/compile/names.js'
import standalone from 'ajv/dist/standalone/index.js'
import { absoluteSchemas } from './config-schema.mjs'

const { _, Ajv2020, str } = ajv2020

/** The keyword and the function of keywords.ts that answers what is wrong with a value. */
const CHECKS = [
  { keyword: 'x-value', check: _`checkScalar` },
  { keyword: 'x-words', check: _`checkWord` },
  { keyword: 'x-kinds', check: _`checkKind`, type: 'object' },
]

/** `this` is a `Literals` of keywords.ts, as the caller of the whole validator passed it. */
const keywordOf = ({ keyword, check, ...applies }) => ({
  keyword,
  ...applies,
  error: { message: ({ params }) => params.reason },
  code(context) {
    const { gen, data, schemaValue, it } = context
    const around = _`${it.topSchemaRef}${it.schemaPath}`
    const place = str`${names.default.instancePath}${it.errorPath}`
    const reason = gen.const(
      'reason',
      _`${check}.call(${names.default.this}, ${schemaValue}, ${data}, ${around}, ${place})`,
    )
    context.setParams({ reason })
    context.fail(_`${reason} !== undefined`)
  },
})

const compile = () => {
  const ajv = new Ajv2020({
    allErrors: true,
    verbose: true,
    passContext: true,
    allowUnionTypes: true,
    // A function for each schema that others refer to, in place of a copy of it in each of them.
    inlineRefs: false,
    code: { source: true, esm: true, lines: true },
  })
  const schemas = absoluteSchemas()
  for (const definition of CHECKS) ajv.addKeyword(keywordOf(definition))
  ajv.addVocabulary([...annotationsIn([...schemas.values()])].filter((name) => !ajv.getKeyword(name)))
  for (const schema of schemas.values()) ajv.addSchema(schema)
  return withoutCopies(standalone.default(ajv, ajv.getSchema(schemas.get('config.json').$id)))
}

/** Keywords of our own that say something about a value without being able to be wrong about it. */
const annotationsIn = (schema, found = new Set()) => {
  if (typeof schema !== 'object' || schema === null) return found
  for (const [key, value] of Object.entries(schema)) {
    if (key.startsWith('x-')) found.add(key)
    annotationsIn(value, found)
  }
  return found
}

/** ajv exports a function that leaves what it found in its own property `errors`, which only a type can tell TypeScript. */
const typed = (code) =>
  code.replace(
    /^"use strict";\nexport const validate = (\w+);\nexport default \1;$/m,
    `interface Validator {
  (this: Literals, root: unknown): boolean
  readonly errors?: readonly ErrorObject[] | null
}

/** Whether a whole document meets schema/config.json. What is wrong with the last one is in \`errors\`. */
export const validator: Validator = $1`,
  )

export const configValidator = () => `// @ts-nocheck
// Written by scripts/generate-config.mjs with ajv from schema/: change the schema and run npm run generate.
import type { ErrorObject } from 'ajv'
import { checkKind, checkScalar, checkWord, type Literals } from '../schema/keywords.js'

${typed(compile())}`

/** ajv copies all errors so far for each part with errors, which takes minutes for a file with 100,000 of them. */
const withoutCopies = (code) => {
  const copying = /vErrors === null \? ([\w.]+) : vErrors\.concat\(\1\)/g
  const appended =
    'const appended = (errors, more) => { if (errors === null) return more; for (const one of more) errors.push(one); return errors }'
  if (!copying.test(code)) throw new Error('ajv no longer writes the copies of errors that are replaced here')
  return `${code.replace(copying, 'appended(vErrors, $1)')}\n${appended}\n`
}
