/** Images with many files, disks that are full, and registries that are slow. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync } from 'node:fs'
import t from 'tap'
import { internalCall } from '../../../src/rpc/call.js'
import { drawnBytes } from '../../drawn.js'
import { setUp, sh } from '../attempt/runner-set-up.js'
import { makeDirectory } from '../folders.js'
import { openSandbox, SYSTEM, setUpImages, whyNot } from './set-up.js'
import type { TarEntry } from './tar.js'

// For changes in: src/worker/image

t.setTimeout(900_000)

const skip = await whyNot()
const named = (value: string) => [{ name: 'container-image', value }]

t.test('an image of 200,000 files is unpacked, and removed when it has to go', { skip }, async (t) => {
  const many: TarEntry[] = []
  for (let folder = 0; folder < 2_000; folder++) {
    many.push({ path: `many/${folder}`, type: 'directory' })
    for (let file = 0; file < 100; file++) many.push({ path: `many/${folder}/${file}`, content: '' })
  }
  const { registry, images, directory } = await setUpImages(t, { maxFiles: 300_000 })
  const digest = registry.push('many', '1', { layers: [SYSTEM, [{ path: 'many', type: 'directory' }, ...many]] })
  const { start, action, text } = await setUp(t, { images, sandbox: await openSandbox() })
  const outcome = await start(action(sh('cd /many && set -- */* && echo $#')), {
    properties: named(`docker://${registry.host}/many@${digest}`),
  })
  t.equal(text(outcome.executeResponse?.result?.stdoutDigest as never), '200000\n')
  const small = await setUpImages(t, { maxFiles: 199_999 })
  const again = small.registry.push('many', '1', { layers: [[{ path: 'many', type: 'directory' }, ...many]] })
  const use = small.images.use(named(`docker://${small.registry.host}/many@${again}`), internalCall())
  await t.rejects(use, { code: 9, message: /more than 199999 files/ })
  await small.images.settle()
  t.same(readdirSync(small.directory), [], 'nothing half is left')
  await images.close()
  const { images: later } = await setUpImages(t, { directory, maxBytes: 1 })
  await later.settle()
  t.same(readdirSync(directory), [])
})

const isRoot = process.getuid?.() === 0

t.test(
  'a full disk is the failure of the worker, and what was half is removed',
  {
    skip: skip || (!isRoot && 'only root can mount a small disk'),
  },
  async (t) => {
    const directory = `${makeDirectory(t)}/disk`
    mkdirSync(directory)
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=16m', 'tmpfs', directory])
    t.teardown(() => execFileSync('umount', ['-l', directory]))
    const { registry, images } = await setUpImages(t, { directory })
    const large = registry.push('large', '1', { layers: [[{ path: 'x', content: drawnBytes(24 * 2 ** 20) }]] })
    // Its layers fit, and what they unpack to does not.
    const zeros = registry.push('zeros', '1', { layers: [[{ path: 'x', content: Buffer.alloc(24 * 2 ** 20) }]] })
    for (const name of [`large@${large}`, `zeros@${zeros}`]) {
      const use = images.use(named(`docker://${registry.host}/${name}`), internalCall())
      await t.rejects(use, { code: 8, message: /no room on its disk/ }, name)
    }
    await images.settle()
    t.same(readdirSync(directory), [])
    const fits = registry.push('fits', '1', { layers: [[{ path: 'x', content: 'x' }]] })
    const used = await images.use(named(`docker://${registry.host}/fits@${fits}`), internalCall())
    t.ok(used, 'an image that fits is used afterwards')
    used?.release()
  },
)

t.test('a registry that is too slow is tried elsewhere, and nothing of it goes on', { skip }, async (t) => {
  const { registry, images, directory } = await setUpImages(t, { timeoutMs: 3_000 })
  const digest = registry.push('slow', '1', { layers: [SYSTEM] })
  let closed = 0
  registry.fault = (request, response) => {
    if (!(request.url ?? '').includes('/blobs/')) return false
    response.on('close', () => closed++)
    response.writeHead(200, { 'content-length': '1000000' }).write('x')
    return true
  }
  const use = images.use(named(`docker://${registry.host}/slow@${digest}`), internalCall())
  await t.rejects(use, { code: 14, message: /did not arrive within pull_timeout_s/ })
  await images.settle()
  t.same(readdirSync(directory), [])
  t.ok(closed > 0, 'its connections are closed')
})
