import { execFileSync } from 'node:child_process'
import { readFileSync, realpathSync } from 'node:fs'
import type { Test } from 'tap'
import { systemClock } from '../../../src/base/clock.js'
import { silentLog } from '../../../src/log/log.js'
import { Sandbox } from '../../../src/worker/command/sandbox.js'
import { Images, type ImagesOptions } from '../../../src/worker/image/images.js'
import { findTools } from '../../../src/worker/image/tool.js'
import { makeDirectory } from '../folders.js'
import { Registry } from './registry.js'
import type { TarEntry } from './tar.js'

export const openSandbox = () =>
  Sandbox.open({
    ...{ ownsMounts: true, keepsNetwork: false, protectsInputs: true, isRoot: false, tmpBytes: 0, hidden: [] },
  })

/** Why images cannot be used here; false if they can. */
export const whyNot = async (): Promise<string | false> => {
  try {
    findTools()
    await openSandbox()
    return false
  } catch (error) {
    return (error as Error).message
  }
}

/** Programs of this machine with their libraries, in the folders of a system of its own. */
export const programs = (...names: readonly string[]): TarEntry[] => {
  const files = new Map<string, string>()
  for (const name of names) {
    const path = realpathSync(execFileSync('which', [name], { encoding: 'utf8' }).trim())
    files.set(`opt/tools/${name}`, path)
    const libraries = execFileSync('ldd', [path], { encoding: 'utf8' })
    for (const [, library = ''] of libraries.matchAll(/(?:=> )?(\/\S+) \(0x/g)) files.set(library.slice(1), library)
  }
  const folders = new Set<string>()
  for (const path of files.keys()) {
    const parts = path.split('/').slice(0, -1)
    for (let depth = 1; depth <= parts.length; depth++) folders.add(parts.slice(0, depth).join('/'))
  }
  return [
    ...[...folders].sort().map((path): TarEntry => ({ path, type: 'directory' })),
    ...[...files].map(([path, from]): TarEntry => ({ path, content: readFileSync(from), mode: 0o755 })),
  ]
}

export const SYSTEM: readonly TarEntry[] = [
  ...programs('sh', 'cat', 'env', 'ls'),
  { path: 'bin', type: 'symlink', target: 'opt/tools' },
  { path: 'etc', type: 'directory' },
  { path: 'etc/system', content: 'of the image\n' },
]
export const ENVIRONMENT = ['PATH=/opt/tools', 'LANGUAGE=of-the-image', 'PLACE=image']

/** Images in a folder of their own, from a registry of their own. */
export const setUpImages = async (t: Test, parts: Partial<ImagesOptions> = {}) => {
  const registry = await Registry.start(t)
  const directory = makeDirectory(t)
  const warnings: string[] = []
  const options: ImagesOptions = {
    ...{ directory, maxBytes: 2 ** 30, maxImageBytes: 2 ** 29, maxFiles: 100_000, maxAgeMs: 3_600_000 },
    ...{ timeoutMs: 300_000, tagAgeMs: 3_600_000, registries: [`http://${registry.host}`], allowAddresses: [] },
    ...{ authFile: undefined, prefetch: [], clock: systemClock },
    log: { ...silentLog, warn: (message) => warnings.push(message) },
    ...parts,
  }
  const images = Images.open(options)
  t.teardown(() => images.close())
  return { registry, images, options, warnings, directory }
}
