import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { internalCall } from '../../../src/rpc/call.js'
import { Images } from '../../../src/worker/image/images.js'
import { setUp, sh } from '../attempt/runner-set-up.js'
import { makeDirectory } from '../folders.js'
import { ENVIRONMENT, openSandbox, SYSTEM, setUpImages, whyNot } from './set-up.js'
import type { TarEntry } from './tar.js'

const skip = await whyNot()
const named = (value: string) => [{ name: 'container-image', value }]
const link = (path: string, target: string): TarEntry => ({ path, type: 'symlink', target })

/** Images in a folder with a neighbour, which must stay as it is. */
const setUpBeside = async (t: Test) => {
  const around = makeDirectory(t)
  mkdirSync(join(around, 'images'))
  mkdirSync(join(around, 'neighbour'))
  writeFileSync(join(around, 'neighbour', 'precious'), 'precious')
  const parts = { directory: join(around, 'images'), maxImageBytes: 64 * 1024 * 1024, maxFiles: 3000 }
  const world = await setUpImages(t, parts)
  const isUntouched = (): boolean =>
    readFileSync(join(around, 'neighbour', 'precious'), 'utf8') === 'precious' &&
    readdirSync(join(around, 'neighbour')).length === 1 &&
    readdirSync(around).length === 2
  return { ...world, around, isUntouched }
}

t.test('layers of a hostile image are refused or harmless', { skip }, async (t) => {
  const { registry, images, around, isUntouched } = await setUpBeside(t)
  const sandbox = await openSandbox()
  const precious = join(around, 'neighbour', 'precious')
  const up = '../'.repeat(20)
  const cases: readonly (readonly [string, ...(readonly TarEntry[])[]])[] = [
    [
      'names with ..',
      [
        { path: `${up}${precious.slice(1)}`, content: 'spoilt' },
        { path: '../escaped', content: 'x' },
      ],
    ],
    ['absolute names', [{ path: precious, content: 'spoilt' }]],
    ['a file through a symlink out', [link('out', dirname(precious)), { path: 'out/precious', content: 'spoilt' }]],
    ['the same in the next layer', [link('out', dirname(precious))], [{ path: 'out/made', content: 'spoilt' }]],
    ['a relative symlink out', [link('out', `${up}${dirname(precious).slice(1)}`), { path: 'out/made', content: 'x' }]],
    ['a hard link to a file outside', [{ path: 'stolen', type: 'link', target: precious }]],
    ['a hard link up', [{ path: 'stolen', type: 'link', target: `${up}${precious.slice(1)}` }]],
    ['a whiteout of what is outside', [{ path: `${up}${dirname(precious).slice(1)}/.wh.precious` }]],
    ['a whiteout through a symlink', [link('out', dirname(precious))], [{ path: 'out/.wh.precious' }]],
    ['an opaque directory through a symlink', [link('out', dirname(precious))], [{ path: 'out/.wh..wh..opq' }]],
    ['a whiteout of the parent', [{ path: '.wh...' }, { path: '.wh..' }]],
    [
      'a device and a pipe',
      [
        { path: 'null', type: 'character' },
        { path: 'pipe', type: 'fifo' },
      ],
    ],
    ['a program of another user', [{ path: 'su', content: 'x', mode: 0o6755 }]],
    [
      'directories without rights',
      [
        { path: 'shut', type: 'directory', mode: 0 },
        { path: 'shut/in', content: 'x', mode: 0 },
      ],
    ],
    [
      'links in the place of mounts',
      [...['dev', 'proc', 'tmp', 'remexec', 'var'].map((name) => link(name, dirname(precious)))],
    ],
    [
      'links that leave by the sandbox',
      [...['dev', 'proc', 'tmp', 'remexec'].map((name) => link(name, `/oldroot${dirname(precious)}`))],
    ],
    [
      'files in the place of mounts',
      [...['dev', 'proc', 'tmp', 'remexec', 'var'].map((path) => ({ path, content: 'x' }))],
    ],
  ]
  const { start, action, text } = await setUp(t, { sandbox, images })
  for (const [title, ...layers] of cases) {
    const digest = registry.push('hostile', 'x', { layers: [SYSTEM, ...layers], environment: ENVIRONMENT })
    const properties = named(`docker://${registry.host}/hostile@${digest}`)
    const script =
      'cat stolen null 2>/dev/null; echo made > out; echo > /tmp/x && echo ran; test -c /dev/null && echo 1'
    const outcome = await start(action({ ...sh(script), outputPaths: ['out'] }), { properties })
    const { result, status } = outcome.executeResponse ?? {}
    if (status?.code !== undefined && status.code !== 0) t.match(status, { code: 9 }, `${title}: refused`)
    else t.equal(text(result?.stdoutDigest as never), 'ran\n1\n', `${title}: harmless`)
    t.ok(isUntouched(), title)
  }
  t.notOk(existsSync(join(around, 'escaped')))
  await images.settle()
})

t.test('an image without a command, with odd variables, or with a malformed configuration', { skip }, async (t) => {
  const { registry, images } = await setUpBeside(t)
  const environment = [...ENVIRONMENT, 'no value', '=x', '__proto__=y', 'LD_PRELOAD=/opt/none.so', 'A=1=2']
  const digest = registry.push('a', '1', { layers: [SYSTEM], environment })
  const { start, action, text } = await setUp(t, { sandbox: await openSandbox(), images })
  const properties = named(`docker://${registry.host}/a@${digest}`)
  const { executeResponse } = await start(action(sh('echo $A')), { properties })
  t.equal(text(executeResponse?.result?.stdoutDigest as never), '1=2\n')
})

t.test('a bomb of bytes or of files is ended at the limit and leaves nothing', { skip }, async (t) => {
  const { registry, images, options, isUntouched } = await setUpBeside(t)
  const zeros = Buffer.alloc(512 * 1024 * 1024)
  const bytes = registry.push('bytes', '1', { layers: [[{ path: 'zeros', content: zeros }]] })
  const entries = Array.from({ length: 20_000 }, (_, index): TarEntry => ({ path: `f${index}` }))
  const files = registry.push('files', '1', { layers: [entries] })
  const use = (name: string, digest: string) =>
    images.use(named(`docker://${registry.host}/${name}@${digest}`), internalCall())
  await t.rejects(use('bytes', bytes), { code: 9, message: /more than 67108864 bytes \(max_image_bytes/ })
  await t.rejects(use('files', files), { code: 9, message: /more than 3000 files \(max_image_files/ })
  await images.settle()
  t.same(readdirSync(options.directory), [])
  t.ok(isUntouched())
})

t.test('an image of many files is used', { skip }, async (t) => {
  const { registry, images } = await setUpImages(t)
  const entries = Array.from({ length: 200 }, (_, folder): TarEntry[] => [
    { path: `d${folder}`, type: 'directory', mode: 0o555 },
    ...Array.from({ length: 50 }, (_, file): TarEntry => ({ path: `d${folder}/f${file}`, content: 'x', mode: 0o444 })),
  ]).flat()
  const digest = registry.push('many', '1', { layers: [entries] })
  const image = await images.use(named(`docker://${registry.host}/many@${digest}`), internalCall())
  t.match(image, { entries: entries.length + 4 })
  t.equal(lstatSync(join(image?.root ?? '', 'd199', 'f49')).size, 1)
  image?.release()
})

t.test('a pull whose last action is cancelled ends, and another begins anew', { skip }, async (t) => {
  const { registry, images, options } = await setUpImages(t)
  const digest = registry.push('a', '1', { layers: [SYSTEM] })
  const properties = named(`docker://${registry.host}/a@${digest}`)
  const abort = new AbortController()
  let reached = (): void => {}
  const atLayer = new Promise<void>((resolve) => {
    reached = resolve
  })
  registry.fault = (request) => {
    if (request.url?.includes('/blobs/') !== true) return false
    reached()
    return true
  }
  const first = images.use(properties, internalCall({ signal: abort.signal }))
  await atLayer
  abort.abort()
  await t.rejects(first, { code: 1 })
  registry.fault = () => false
  ;(await images.use(properties, internalCall()))?.release()
  await images.settle()
  t.same(readdirSync(options.directory), [digest.replace(':', '-')])

  registry.fault = (request) => request.url?.includes('/manifests/') === true
  const second = images.use(named(`docker://${registry.host}/a:1`), internalCall())
  const ended = t.rejects(second, { message: /stopping/ })
  await images.close()
  await ended
  t.ok(Images.open(options), 'a closed folder can be opened again')
})
