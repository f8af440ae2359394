import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { ManualClock } from '../../../src/base/clock.js'
import { silentLog } from '../../../src/log/log.js'
import { internalCall } from '../../../src/rpc/call.js'
import { Images } from '../../../src/worker/image/images.js'
import { findTools } from '../../../src/worker/image/tool.js'
import { until } from '../../until.js'
import { setUp, sh } from '../attempt/runner-set-up.js'
import { makeDirectory } from '../folders.js'
import { ENVIRONMENT, openSandbox, SYSTEM, setUpImages, whyNot } from './set-up.js'

const skip = await whyNot()
const named = (value: string) => [{ name: 'container-image', value }]

t.test('an action runs in the image that it names', { skip }, async (t) => {
  const { registry, images, warnings } = await setUpImages(t)
  const digest = registry.push('team/tools', '1', { layers: [SYSTEM], environment: ENVIRONMENT })
  const { start, action, store, text, rest } = await setUp(t, { sandbox: await openSandbox(), images })
  const input = store.keep('precious')
  const root = { files: [{ name: 'in', digest: input.toMessage() }] }
  const printed = async (
    script: string,
    property: string,
    environmentVariables: { name: string; value: string }[] = [],
  ) => {
    const command = { ...sh(script), outputPaths: ['out', 'link'], environmentVariables }
    const { executeResponse } = await start(action(command, root), { properties: named(property) })
    const result = executeResponse?.result
    return { text: result?.stdoutDigest ? text(result.stdoutDigest as never) : '', executeResponse, result }
  }
  const image = `docker://${registry.host}/team/tools@${digest}`
  t.equal((await printed('cat /etc/system', image)).text, 'of the image\n')
  t.match(
    (await printed('ls /', image)).text,
    /^bin\ndev\netc\n(lib\S*\n)*opt\nproc\nremexec\ntmp\n(usr\n)?$/,
    'nothing of this machine',
  )
  t.equal((await printed('cat in; echo made > out; ls', image)).text, 'preciousin\nout\n')
  const made = await printed('echo made > out', image)
  t.match(made.result, { exitCode: 0, outputFiles: [{ path: 'out' }] })
  t.equal(
    (await printed('echo $PLACE $LANGUAGE', image, [{ name: 'PLACE', value: 'mine' }])).text,
    'mine of-the-image\n',
  )
  for (const place of ['/etc/made', '/opt/made', '/made', '/remexec/made', '/dev/made', 'in'])
    t.equal((await printed(`(echo > ${place}) 2>/dev/null || echo not`, image)).text, 'not\n', place)
  t.equal((await printed('echo > /tmp/mine && ls /tmp', image)).text, 'mine\n', 'a /tmp of its own')
  t.equal(registry.count('/manifests/'), 1, 'fetched once')

  const byTag = await printed('cat /etc/system', `docker://${registry.host}/team/tools:1`)
  t.equal(byTag.text, 'of the image\n')
  t.match(warnings, [/by a tag/])
  const metadata = byTag.result?.executionMetadata?.auxiliaryMetadata ?? []
  t.ok(
    metadata.some(({ typeUrl }) => typeUrl?.endsWith('ContainerImage')),
    'told in the result',
  )
  t.equal((await printed('cat /etc/system', '')).text, '', 'without an image on the system of the worker')
  t.same(await rest(), [])
})

t.test('a hundred actions at once pull a cold image once', { skip }, async (t) => {
  const { registry, images } = await setUpImages(t)
  const digest = registry.push('a', '1', { layers: [SYSTEM] })
  const properties = named(`docker://${registry.host}/a@${digest}`)
  const used = await Promise.all(Array.from({ length: 100 }, () => images.use(properties, internalCall())))
  t.equal(new Set(used.map((image) => image?.root)).size, 1)
  t.equal(registry.count('/manifests/'), 1)
  for (const image of used) image?.release()
})

t.test('who waits for an image is told how it goes, and the worker tells which images it has', { skip }, async (t) => {
  const changes: (readonly string[])[] = []
  const { registry, images } = await setUpImages(t, { onChange: () => changes.push(images.warmKeys) })
  const digest = registry.push('a', '1', { layers: [SYSTEM] })
  const told: string[] = []
  const use = (name: string) => images.use(named(name), internalCall(), (what) => told.push(what))
  const asked = `docker://${registry.host}/a:1`
  const used = await use(asked)
  const image = `the image ${registry.host}/a@${digest}`
  t.equal(told[0], `${image} waits on its worker until others are fetched`)
  t.ok(told.includes(`${image} is being fetched on its worker`))
  t.ok(told.includes(`${image} is being unpacked on its worker`))
  t.equal(told.at(-1), '')
  t.same(images.warmKeys, [`image:${digest}`, `image:${asked}`])
  t.same(changes.at(-1), images.warmKeys)
  used?.release()
  told.length = 0
  const again = await use(`docker://${registry.host}/a@${digest}`)
  t.same(told, [], 'nobody waits for an image that is here')
  again?.release()
})

t.test(
  'prefetch: images are there before an action names them, and one that cannot be had is said once',
  { skip },
  async (t) => {
    const clock = new ManualClock()
    const { registry } = await setUpImages(t)
    const digest = registry.push('a', '1', { layers: [SYSTEM] })
    const warnings: [string, unknown][] = []
    const log = { ...silentLog, warn: (message: string, fields?: unknown) => warnings.push([message, fields]) }
    const prefetch = [`docker://${registry.host}/gone:1`, `docker://${registry.host}/a@${digest}`]
    const { images } = await setUpImages(t, {
      ...{ prefetch, clock, log, registries: [`http://${registry.host}`] },
    })
    images.prefetch()
    await until(() => images.warmKeys.includes(`image:${digest}`))
    t.match(warnings, [['an image of prefetch could not be fetched; it is tried again', { image: prefetch[0] }]])
    registry.push('gone', '1', { layers: [SYSTEM] })
    clock.advance(600_000)
    await until(() => images.warmKeys.includes(`image:${prefetch[0]}`))
    t.equal(warnings.filter(([message]) => message.includes('prefetch')).length, 1)
  },
)

t.test('an image that cannot be had is the failure of whoever is at fault', { skip }, async (t) => {
  const { registry, images } = await setUpImages(t)
  const digest = registry.push('a', '1', { layers: [SYSTEM] })
  const at = (rest: string): string => `docker://${registry.host}/${rest}`
  const fails = async (image: string, expected: { code: number; message: RegExp }, title: string): Promise<void> => {
    await t.rejects(images.use(named(image), internalCall()), expected, title)
  }
  await fails('docker://:::', { code: 3, message: /expected docker:\/\/HOST\/NAME/ }, 'malformed')
  await fails(
    'docker://example.com/a:1',
    { code: 9, message: /not allowed here: expected one of 127/ },
    'another registry',
  )
  await fails(at(`a@sha256:${'1'.repeat(64)}`), { code: 9, message: /no such image/ }, 'unknown digest')
  await fails(at('b:1'), { code: 9, message: /no such image/ }, 'unknown name')

  registry.fault = (_, response) => {
    response.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end()
    return true
  }
  await fails(at(`a@${digest}`), { code: 9, message: /auth_file/ }, 'unauthorised')
  registry.fault = (_, response) => {
    response.writeHead(503).end()
    return true
  }
  await fails(at(`a@${digest}`), { code: 14, message: /cannot be reached now/ }, 'ill')
  registry.fault = () => false
  registry.spoilManifest('a', digest)
  await fails(at(`a@${digest}`), { code: 15, message: /not what its digests name/ }, 'another manifest')
  const second = registry.push('a', '2', { layers: [SYSTEM, [{ path: 'second', content: 'x' }]] })
  registry.spoilBlobs()
  await fails(at(`a@${second}`), { code: 15, message: /not what its digests name/ }, 'another layer')
  await registry.stop()
  await fails(at(`a@${digest}`), { code: 14, message: /cannot be reached now/ }, 'away')
})

t.test('images are kept between starts, within bounds, and what was half is removed', { skip }, async (t) => {
  const { registry, images, options, directory } = await setUpImages(t)
  const use = async (from: Images, digest: string) => {
    const image = await from.use(named(`docker://${registry.host}/a@${digest}`), internalCall())
    if (image === undefined) throw new Error('no image')
    return image
  }
  const first = registry.push('a', '1', { layers: [[{ path: 'one', content: Buffer.alloc(100_000, 1) }]] })
  const second = registry.push('a', '2', { layers: [[{ path: 'two', content: Buffer.alloc(100_000, 2) }]] })
  const third = registry.push('a', '3', { layers: [[{ path: 'three', content: Buffer.alloc(100_000, 3) }]] })
  const { bytes, release } = await use(images, first)
  release()
  await images.close()
  mkdirSync(join(directory, 'pull-of-a-killed-worker', 'rootfs'), { recursive: true })
  mkdirSync(join(directory, `sha256-${'2'.repeat(64)}`, 'rootfs'), { recursive: true })
  writeFileSync(join(directory, 'stray'), '')

  const again = Images.open({ ...options, maxBytes: 2 * bytes + 4096 })
  await again.settle()
  t.same(readdirSync(directory), [first.replace(':', '-')], 'only the complete image')
  const asked = registry.asked.length
  const kept = await use(again, first)
  t.equal(registry.asked.length, asked, 'it is not fetched again')
  t.ok(existsSync(join(kept.root, 'one')))
  ;(await use(again, second)).release()
  ;(await use(again, third)).release()
  await again.settle()
  t.same(
    new Set(readdirSync(directory)),
    new Set([first, third].map((digest) => digest.replace(':', '-'))),
    'one in use stays',
  )
  const other = await use(again, third)
  await t.rejects(use(again, second), { code: 8, message: /images in use leave no room/ })
  kept.release()
  other.release()
  await again.close()
})

t.test('an image that needs an account is fetched with auth_file', { skip }, async (t) => {
  const authFile = join(makeDirectory(t), 'auth.json')
  const { registry, images } = await setUpImages(t, { authFile })
  const auth = Buffer.from('me:secret').toString('base64')
  writeFileSync(authFile, JSON.stringify({ auths: { [registry.host]: { auth } } }), { mode: 0o600 })
  const digest = registry.push('a', '1', { layers: [SYSTEM] })
  registry.fault = (request, response) => {
    if (request.headers.authorization === `Basic ${auth}`) return false
    response.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end()
    return true
  }
  for (const name of [`a@${digest}`, 'a:1']) {
    const image = await images.use(named(`docker://${registry.host}/${name}`), internalCall())
    t.equal(image?.digest, digest, name)
    image?.release()
  }
})

t.test('a worker without the tools says which packages it needs', async (t) => {
  t.throws(() => findTools('/nowhere'), { code: 9, message: /skopeo and umoci and bwrap in PATH: install/ })
})
