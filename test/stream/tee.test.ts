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
