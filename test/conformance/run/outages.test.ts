import t from 'tap'
import type { Candidate } from '../../../conformance/exam/candidate.js'
import { type Crash, Outages, type Sitting } from '../../../conformance/run/outages.js'
import type { Result, Verdict } from '../../../conformance/run/result.js'
import { Patience } from '../../../conformance/wire/patience.js'

/** A server that one row kills, and that comes back when it is asked to. */
class Mortal {
  isUp = true
  readonly crashes: Crash[] = []
  readonly outages = new Outages({ patience: new Patience() } as Candidate, {
    isAlive: () => Promise.resolve(this.isUp),
    comeBack: () => {
      this.isUp = true
      return Promise.resolve(true)
    },
    onCrash: (crash) => void this.crashes.push(crash),
  })

  /** A row that is judged `fail` while the server is away, in the way that `sees` says. */
  row(id: string, sees: Partial<Sitting>, during: () => Promise<void> = () => Promise.resolve()): () => Sitting {
    const result = (verdict: Verdict, reason: string) => ({ verdict, reason, requirement: { id } }) as Result
    return () => {
      const sitting = {
        check: { id },
        gotNoAnswer: false,
        lostConnection: false,
        hasDiverged: false,
        lastCalls: [],
        result,
        judge: async () => {
          await during()
          if (this.isUp) return result('pass', '')
          Object.assign(sitting, { hasDiverged: true, ...sees })
          return result('fail', 'expected ping 2 to be answered; found the connection is gone')
        },
      }
      return sitting
    }
  }
}

t.test('a row on a connection of its own is not blamed when the server goes away under another', async (t) => {
  const server = new Mortal()
  let die = (): void => {}
  const death = new Promise<void>((resolve) => {
    die = resolve
  })
  const deadly = server.row('ACU-04', { gotNoAnswer: true, lostConnection: true }, async () => {
    server.isUp = false
    die()
  })
  const bystander = server.row('GEN-09', {}, () => death)
  const [killed, beside] = await Promise.all([server.outages.take(deadly), server.outages.take(bystander)])
  t.equal(killed.verdict, 'crash')
  t.equal(beside.verdict, 'pass', beside.reason)
  t.match(server.crashes, [{ row: 'ACU-04', underWay: ['ACU-04', 'GEN-09'], cameBack: true }])
})

t.test('a row that finds fault with a server that is there is a finding', async (t) => {
  const server = new Mortal()
  const wrong = server.row('BUB-01', {})
  const sit = (): Sitting => {
    const sitting = wrong()
    return {
      ...sitting,
      hasDiverged: true,
      judge: () => Promise.resolve(sitting.result('fail', 'expected OK; found INTERNAL')),
    }
  }
  t.equal((await server.outages.take(sit)).verdict, 'fail')
  t.same(server.crashes, [])
})
