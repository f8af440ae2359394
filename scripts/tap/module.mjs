/** What tap and entry.mjs import instead of node:module: maps are read for failures only. Node reads that of every module when it loads it. */
import { existsSync, readFileSync } from 'node:fs'
import { SourceMap } from 'node:module'
import { fileURLToPath } from 'node:url'

export * from 'node:module'
export { default } from 'node:module'

const maps = new Map()

const mapOf = (path) => {
  if (!existsSync(path)) return undefined
  const [, inline] =
    /\n\/\/# sourceMappingURL=data:application\/json;base64,(\S+)\s*$/.exec(readFileSync(path, 'utf8')) ?? []
  if (inline !== undefined) return new SourceMap(JSON.parse(Buffer.from(inline, 'base64')))
  if (!existsSync(`${path}.map`)) return undefined
  const map = JSON.parse(readFileSync(`${path}.map`, 'utf8'))
  return new SourceMap({ ...map, sources: map.sources.map((source) => new URL(source, `file://${path}`).href) })
}

/** By the path or the URL of a module; undefined if it has no map. */
export const findSourceMap = (module) => {
  if (!maps.has(module)) maps.set(module, mapOf(module.startsWith('file:') ? fileURLToPath(module) : module))
  return maps.get(module)
}
