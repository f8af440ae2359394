import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { internalCall } from '../../../src/rpc/call.js'
import { Images } from '../../../src/worker/image/images.js'
import { loader, programAt } from '../../built.js'
import { until } from '../../until.js'
import { makeDirectory } from '../folders.js'
import { setUpImages, whyNot } from './set-up.js'
import type { TarEntry } from './tar.js'

const skip = await whyNot()
const LAYER: readonly TarEntry[] = [
  ...Array.from({ length: 3000 }, (_, index): TarEntry => ({ path: `f${index}`, content: 'x' })),
  { path: 'last', content: Buffer.alloc(64 * 1024 * 1024, 1) },
]

/** Whether a process works in the folder. */
const isInUse = (directory: string): boolean =>
  readdirSync('/proc').some((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(directory)
    } catch {
      return false
    }
  })

const contentOf = (directory: string): readonly string[] => {
  const pulls = readdirSync(directory)
  return pulls.flatMap((pull) => readdirSync(join(directory, pull)))
}

for (const step of ['the manifest', 'the configuration or a layer', 'unpacking'] as const) {
  t.test(`a worker that is killed in a pull, at ${step}, leaves no process and nothing half`, { skip }, async (t) => {
    const { registry, options } = await setUpImages(t)
    const directory = makeDirectory(t)
    const digest = registry.push('a', '1', { layers: [LAYER] })
    const image = `docker://${registry.host}/a@${digest}`
    let hasStalled = false
    const part = step === 'the manifest' ? '/manifests/' : '/blobs/'
    registry.fault = (request) => {
      if (step === 'unpacking' || request.url?.includes(part) !== true) return false
      hasStalled = true
      return true
    }
    const program = programAt('test/worker/image/puller.ts')
    const child = fork(program, [directory, registry.host, image], { execArgv: [...loader] })
    const isThere = (): boolean => (step === 'unpacking' ? contentOf(directory).includes('rootfs') : hasStalled)
    await until(isThere)
    child.kill('SIGKILL')
    await once(child, 'exit')
    await until(() => !isInUse(directory))
    t.match(readdirSync(directory), [/^pull-/], 'what is half has no name of an image')

    registry.fault = () => false
    const images = Images.open({ ...options, directory })
    t.teardown(() => images.close())
    await images.settle()
    t.same(readdirSync(directory), [], 'the next start removes it')
    const used = await images.use([{ name: 'container-image', value: image }], internalCall())
    t.equal(used?.entries, LAYER.length + 4)
    used?.release()
  })
}
