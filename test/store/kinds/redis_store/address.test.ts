import t from 'tap'
import { Code } from '../../../../src/base/status-error.js'
import { parseAddresses } from '../../../../src/store/kinds/redis_store/address.js'

void t.test('a setting in only one of several Redis addresses is rejected, without its secrets', (t) => {
  const cases = [
    ['cluster', ['redis://a', 'rediss://b'], 'b has another scheme than a'],
    ['cluster', ['redis://:one@a', 'redis://:two@b:7'], 'b:7 has another name or password than a'],
    ['cluster', ['redis://me:one@a', 'redis://you:one@b'], 'b has another name or password than a'],
    ['sentinel', ['redis+sentinel://a/1', 'redis+sentinel://b/2'], 'b has another database than a'],
    [
      'sentinel',
      ['redis+sentinel://a?sentinelServiceName=x', 'redis+sentinel://b'],
      'b has another option of its sentinel than a',
    ],
    [
      'sentinel',
      ['redis+sentinel://a?sentinelPassword=one', 'redis+sentinel://b?sentinelPassword=two'],
      'b has another option of its sentinel than a',
    ],
  ] as const
  for (const [mode, addresses, said] of cases) {
    const message = `addresses: ${said}, expected the same of all`
    t.throws(() => parseAddresses(mode, addresses), { code: Code.INVALID_ARGUMENT, message }, said)
  }
  t.end()
})

void t.test('unused options in a Redis address are reported by name', (t) => {
  const unused = (mode: 'standard' | 'sentinel', address: string) => parseAddresses(mode, [address]).unusedOptions
  t.same(unused('standard', 'redis://a?protocol=resp3&sentinelServiceName=x'), ['protocol', 'sentinelServiceName'])
  t.same(unused('sentinel', 'redis+sentinel://a?sentinelServiceName=x&sentinelUsername=y&sentinelPassword=z'), [])
  const of = ['redis+sentinel://a?x=1', 'redis+sentinel://b?x=2&y=3']
  t.same(parseAddresses('sentinel', of).unusedOptions, ['x', 'y'])
  t.end()
})
