/** What it costs to run an action in an image that is here, beside one in the sandbox alone. Measures, and asserts only that both run. */
import t from 'tap'
import { setUp, sh } from '../attempt/runner-set-up.js'
import { openSandbox, programs, SYSTEM, setUpImages, whyNot } from './set-up.js'

// For changes in: src/worker/image, src/worker/command/sandbox.ts

t.setTimeout(600_000)

const skip = await whyNot()
const ROUNDS = 15
const AT_ONCE = 10

t.test('actions in a warm image, and in the sandbox alone', { skip }, async (t) => {
  const { registry, images } = await setUpImages(t)
  const layers = [[...SYSTEM, ...programs('true').filter(({ path }) => path.startsWith('opt/tools/'))]]
  const value = `docker://${registry.host}/a@${registry.push('a', '1', { layers })}`
  const { start, action } = await setUp(t, { images, sandbox: await openSandbox() })
  const kinds = { sandbox: [], image: [{ name: 'container-image', value }] }
  const run = async (kind: keyof typeof kinds, salt: string): Promise<number> => {
    const digest = action(sh(`: ${salt}`))
    // biome-ignore lint/plugin: the time is what is measured
    const sinceMs = performance.now()
    const { executeResponse } = await start(digest, { properties: kinds[kind] })
    // biome-ignore lint/plugin: the time is what is measured
    const tookMs = performance.now() - sinceMs
    t.equal(executeResponse?.result?.exitCode, 0)
    return tookMs
  }
  await run('image', 'fetch')
  const times = { sandbox: [] as number[], image: [] as number[] }
  // In turns, so that both see the same load.
  for (let round = 0; round < ROUNDS; round++)
    for (const kind of ['sandbox', 'image'] as const)
      for (let one = 0; one < AT_ONCE; one++) times[kind].push(await run(kind, `${kind} ${round} ${one}`))
  const median = (values: number[]): number => values.sort((a, b) => a - b)[values.length >> 1] ?? 0
  const [alone, inImage] = [median(times.sandbox), median(times.image)]
  const ratio = (inImage / alone).toFixed(2)
  t.comment(`median ${alone.toFixed(1)} ms in the sandbox, ${inImage.toFixed(1)} ms in the image: ${ratio} times`)
})
