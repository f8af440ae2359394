import { compareSync, hashSync } from 'bcryptjs'
import fc from 'fast-check'
import t from 'tap'
import { costOf, trials } from '../../src/security/identity/stand-ins.js'

const rounds = (hash: string): number => 2 ** costOf(hash)

t.test('a refused password takes as many rounds whether or not the name exists', async (t) => {
  const costs = fc.array(fc.integer({ min: 4, max: 15 }), { maxLength: 6 })
  const property = fc.property(costs, (some) => {
    const hashOf = (cost: number): string => `$2y$${String(cost).padStart(2, '0')}$${'x'.repeat(53)}`
    const trialOf = trials(new Map(some.map((cost, index) => [`user-${index}`, hashOf(cost)])))
    const roundsOf = (name: string): number => {
      const { hash, standIns } = trialOf(name)
      return [hash, ...standIns].reduce((sum, one) => sum + rounds(one), 0)
    }
    const expected = 2 ** Math.max(...(some.length === 0 ? [10] : some))
    return ['nobody', ...some.map((_, index) => `user-${index}`)].every((name) => roundsOf(name) === expected)
  })
  t.doesNotThrow(() => fc.assert(property))
})

t.test('a stand-in is a hash of its cost that matches no password', async (t) => {
  const trialOf = trials(
    new Map([
      ['ann', hashSync('secret', 5)],
      ['ben', hashSync('secret', 4)],
    ]),
  )
  t.equal(costOf(trialOf('nobody').hash), 5)
  t.same(trialOf('ben').standIns.map(costOf), [4])
  for (const { hash, standIns } of [trialOf('nobody'), trialOf('ben')])
    for (const standIn of [...standIns, ...(standIns.length === 0 ? [hash] : [])]) {
      t.equal(standIn.length, 60)
      t.notOk(compareSync('secret', standIn))
    }
})
