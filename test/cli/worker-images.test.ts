import t from 'tap'
import { Registry } from '../worker/image/registry.js'
import { programs, SYSTEM, whyNot } from '../worker/image/set-up.js'
import { config, execute, start } from './worker-server.js'

t.setTimeout(600_000)

const withImages = (host: string): string =>
  config.replace('S: { simple: {} }', "S: { simple: { supported_platform_properties: { '*': 'ignore' } } }").replace(
    "work_directory: '$REMEXEC_DATA/w',",
    `work_directory: '$REMEXEC_DATA/w', use_namespaces: true, use_mount_namespace: true,
       container_images: { registries: ['http://${host}'] },`,
  )

t.test('one worker runs the actions of a build in the images that they name', { skip: await whyNot() }, async (t) => {
  const registry = await Registry.start(t)
  const image = (name: string, tag: string): string => {
    const layers = [SYSTEM, [{ path: 'etc/name', content: `${name}\n` }, ...(tag === '2' ? programs('touch') : [])]]
    return `docker://${registry.host}/${name}@${registry.push(name, tag, { layers })}`
  }
  const [one, other] = [image('one', '1'), image('other', '2')]
  const running = await start(t, withImages(registry.host))
  const script = 'cat /etc/name; ls /opt/tools'
  const printed = async (properties: Readonly<Record<string, string>>): Promise<string> => {
    const { result, status } = await execute(running, { script: `(${script}) 2>&1`, properties })
    t.equal(status, null)
    return result?.stdoutDigest === null || result === null
      ? ''
      : `${result?.stdoutDigest.sizeBytes} ${result?.exitCode}`
  }
  t.equal(await printed({ 'container-image': one }), `${'one\ncat\nenv\nls\nsh\n'.length} 0`)
  t.equal(await printed({ 'docker-image': other, Pool: 'default' }), `${'other\ncat\nenv\nls\nsh\ntouch\n'.length} 0`)
  const { result } = await execute(running, {
    script: 'test ! -e /etc/name',
    properties: { 'container-image': 'none' },
  })
  t.equal(result?.exitCode, 0, 'an action without an image sees the machine')
  const unknown = `docker://${registry.host}/nothing:1`
  const { status } = await execute(running, { script: 'true', properties: { 'container-image': unknown } })
  t.match(status, { code: 9, message: /nothing:1 could not be used: its registry has no such image/ })
})

t.test('a server without such workers refuses actions that name an image, and says what to do', async (t) => {
  const text = config.replace(
    'S: { simple: {} }',
    "S: { simple: { supported_platform_properties: { '*': 'ignore' } } }",
  )
  const running = await start(t, text)
  const properties = { 'container-image': 'docker://example.com/a:1' }
  const { status } = await execute(running, { script: 'true', properties })
  t.match(status, { code: 9, message: /container_images, or .*'container-image': 'ignore'/ })
})
