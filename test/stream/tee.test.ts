import { once } from 'node:events'
import t from 'tap'
import { Tee, TeeBranch } from '../../src/stream/tee.js'

const ended = async (branch: TeeBranch): Promise<string> => {
  let text = ''
  branch.on('data', (chunk: Buffer) => {
    text += chunk
  })
  await once(branch, 'end')
  return text
}

t.test('a branch that holds its end ends once it is released, before the last chunk or after it', async (t) => {
  for (const isEarly of [true, false]) {
    const branch = new TeeBranch({ holdsEnd: true })
    const tee = new Tee([branch])
    const text = ended(branch)
    if (isEarly) branch.release()
    tee.end('all of it')
    await once(tee, 'finish')
    if (!isEarly) branch.release()
    t.equal(await text, 'all of it')
  }
})

t.test('a branch that fails before it has a reader ends no process, and its reader finds it closed', async (t) => {
  const branch = new TeeBranch()
  const closed = new Promise<void>((resolve) => branch.once('close', resolve))
  branch.destroy(new Error('the source failed'))
  await closed
  t.equal(branch.errored?.message, 'the source failed')
  await t.rejects(branch.toArray(), { message: 'the source failed' })
})
