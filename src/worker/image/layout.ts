import { readFile, stat } from 'node:fs/promises'
import { StatusError } from '../../base/status-error.js'

/** Registries accept manifests up to 4 MiB. */
const MAX_BYTES = 4 * 1024 * 1024
const MAX_VARIABLES = 1000
const VARIABLE = /^[^=\0]+=[^\0]*$/s
const DIGEST = /^sha256:[0-9a-f]{64}$/

/**
 * The variables of an image in a folder of the OCI image layout with one manifest, as `NAME=value`. FAILED_PRECONDITION if its
 * configuration is malformed.
 */
export const environmentOfImage = async (layout: string, image: string): Promise<readonly string[]> => {
  const index = await jsonIn(`${layout}/index.json`, image)
  const [entry] = listIn(index, 'manifests')
  const manifest = await blobOf(layout, entry, image)
  const config = await blobOf(layout, fieldOf(manifest, 'config'), image)
  const variables = listIn(fieldOf(config, 'config'), 'Env')
  return variables
    .filter((text): text is string => typeof text === 'string' && VARIABLE.test(text))
    .slice(0, MAX_VARIABLES)
}

const blobOf = (layout: string, descriptor: unknown, image: string): Promise<unknown> => {
  const digest = fieldOf(descriptor, 'digest')
  if (typeof digest !== 'string' || !DIGEST.test(digest)) throw malformed(image)
  return jsonIn(`${layout}/blobs/sha256/${digest.slice('sha256:'.length)}`, image)
}

const jsonIn = async (path: string, image: string): Promise<unknown> => {
  if ((await stat(path)).size > MAX_BYTES) throw malformed(image)
  try {
    return JSON.parse(await readFile(path, 'utf8'))
  } catch (cause) {
    if (cause instanceof SyntaxError) throw malformed(image)
    throw cause
  }
}

const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>)[name] : undefined

const listIn = (value: unknown, name: string): readonly unknown[] => {
  const found = fieldOf(value, name)
  return Array.isArray(found) ? found : []
}

const malformed = (image: string): StatusError =>
  new StatusError(
    'FAILED_PRECONDITION',
    `the image ${image} could not be used: its manifest or configuration is malformed`,
  )
