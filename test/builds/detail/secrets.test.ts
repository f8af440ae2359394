import t from 'tap'
import { BuildSecrets } from '../../../src/builds/detail/secrets.js'

t.test('values of options that may be secret are hidden, and their names stay', async (t) => {
  const secrets = new BuildSecrets()
  for (const [option, shown] of [
    ['--client_env=AWS_SECRET_ACCESS_KEY=abcdefgh', '--client_env=AWS_SECRET_ACCESS_KEY=(hidden)'],
    ['--client_env=HOME=/home/ann', '--client_env=HOME=(hidden)'],
    ['--action_env=PATH=/bin', '--action_env=PATH=(hidden)'],
    ['--action_env=PATH', '--action_env=PATH'],
    ['--remote_header=x-api-key=k1234567', '--remote_header=x-api-key=(hidden)'],
    ['--bes_header=authorization=Bearer abc', '--bes_header=authorization=(hidden)'],
    ['--remote_cache_header=a=b=c', '--remote_cache_header=a=(hidden)'],
    ['--define=API_TOKEN=t1234567', '--define=API_TOKEN=(hidden)'],
    ['--define=mode=fast', '--define=mode=fast'],
    ['--some_password=hunter22', '--some_password=(hidden)'],
    ['--google_credentials=/path/to/file', '--google_credentials=/path/to/file'],
    ['--google_default_credentials=true', '--google_default_credentials=true'],
    ['--remote_cache=grpcs://ann:hunter2@cache.example', '--remote_cache=grpcs://***@cache.example'],
    ['--jobs=8', '--jobs=8'],
    ['//:target', '//:target'],
  ] as const)
    t.equal(secrets.option(option), shown)
})

t.test('a value that an option hides is hidden everywhere, the longer of two first', async (t) => {
  const secrets = new BuildSecrets()
  secrets.option('--action_env=TOKEN=super.secret')
  secrets.option('--action_env=OTHER_TOKEN=super.secret.longer')
  secrets.option('--client_env=PATH=/usr/bin:/bin')
  secrets.option('--client_env=SHORT_TOKEN=on')
  t.equal(
    secrets.hidden('TOKEN=super.secret OTHER=super.secret.longer superXsecret PATH=/usr/bin:/bin on'),
    'TOKEN=(hidden) OTHER=(hidden) superXsecret PATH=/usr/bin:/bin on',
  )
  t.equal(secrets.fact('BUILD_URL', 'https://ci/super.secret'), 'https://ci/(hidden)')
  t.equal(secrets.fact('DEPLOY_KEY', 'another-one'), '(hidden)')
  t.equal(secrets.hidden('says another-one'), 'says (hidden)')
})

t.test('very long and very many values break nothing, and hide what they can', (t) => {
  const secrets = new BuildSecrets()
  const long = 'x1'.repeat(2_500_000)
  t.equal(secrets.option(`--action_env=TOKEN=${long}`), '--action_env=TOKEN=(hidden)')
  t.notMatch(secrets.hidden(`a ${long.slice(0, 16_384)}`), 'x1')
  for (let at = 0; at < 1000; at++) secrets.option(`--action_env=TOKEN=${String(at).padStart(6, '0').repeat(2500)}`)
  t.equal(secrets.hidden('nothing'), 'nothing')
  t.equal(secrets.hidden('000001'.repeat(2500)), '(hidden)')
  t.end()
})
