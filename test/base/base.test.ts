import t from 'tap'
import { ManualClock } from '../../src/base/clock.js'
import { fileFailure, inWords } from '../../src/base/errno.js'
import { Code, codeName, isStatus, StatusError } from '../../src/base/status-error.js'
import { textLog } from '../../src/log/log.js'
import { boundedMap } from '../../src/work/bounded-map.js'
import { inBackground } from '../../src/work/in-background.js'
import { Resources } from '../../src/work/resources.js'
import { SingleFlight } from '../../src/work/single-flight.js'

t.test('the name of a host that nobody knows is told', async (t) => {
  const error = Object.assign(new Error('getaddrinfo'), { code: 'ENOTFOUND', hostname: 's3.nowhere.invalid' })
  t.equal(inWords(error), 'there is no host of that name: s3.nowhere.invalid (ENOTFOUND)')
})

t.test('StatusError', async (t) => {
  t.test('keeps code and details when context is added', async (t) => {
    const detail = { typeUrl: 'type.googleapis.com/x', value: Buffer.from('y') }
    const error = new StatusError('NOT_FOUND', 'blob a is absent', { details: [detail] }).withPrefix('reading b')
    t.equal(error.code, Code.NOT_FOUND)
    t.equal(error.message, 'reading b: blob a is absent')
    t.strictSame(error.details, [detail])
    t.ok(isStatus(error, 'NOT_FOUND'))
  })
  t.test('an abort becomes CANCELLED, anything unknown INTERNAL without its text', async (t) => {
    const abort = AbortSignal.abort()
    t.equal(StatusError.from(abort.reason).code, Code.CANCELLED)
    const unknown = StatusError.from(new Error('/secret/path'))
    t.equal(unknown.code, Code.INTERNAL)
    t.notMatch(unknown.message, /secret/)
    t.match(unknown.cause, { message: '/secret/path' })
  })
  t.test('frequent errors have no stack, all others do', async (t) => {
    t.notMatch(new StatusError('NOT_FOUND', 'absent').stack, /\n\s+at /)
    t.match(new StatusError('NOT_FOUND', 'absent').stack, /absent/)
    t.match(new StatusError('INTERNAL', 'broken').stack, /\n\s+at .*base\.test/)
  })
  t.equal(codeName(8), 'RESOURCE_EXHAUSTED')
})

t.test('boundedMap keeps order, respects its limit, and starts nothing after a failure', async (t) => {
  let running = 0
  let most = 0
  const doubled = await boundedMap([1, 2, 3, 4, 5, 6], 2, async (item) => {
    most = Math.max(most, ++running)
    await new Promise(setImmediate)
    running--
    return item * 2
  })
  t.strictSame(doubled, [2, 4, 6, 8, 10, 12])
  t.equal(most, 2)

  const started: number[] = []
  await t.rejects(
    boundedMap([1, 2, 3, 4], 1, async (item) => {
      started.push(item)
      if (item === 2) throw new Error('two')
    }),
    { message: 'two' },
  )
  t.strictSame(started, [1, 2])
})

t.test('SingleFlight shares running work and forgets it afterwards', async (t) => {
  const flights = new SingleFlight<number>()
  let runs = 0
  const work = async (): Promise<number> => {
    await new Promise(setImmediate)
    return ++runs
  }
  t.strictSame(await Promise.all([flights.run('a', work), flights.run('a', work), flights.run('b', work)]), [1, 1, 2])
  t.equal(await flights.run('a', work), 3)
  await t.rejects(flights.run('c', () => Promise.reject(new Error('no'))))
  t.equal(await flights.run('c', work), 4)
})

t.test('work in the background that rejects is logged', async (t) => {
  const lines: string[] = []
  inBackground(
    Promise.reject(new Error('broken')),
    textLog('info', (line) => lines.push(line)),
    'the end of a call',
  )
  await new Promise(setImmediate)
  t.match(lines.join(''), /error the end of a call failed error=.*broken/)
})

t.test('ManualClock runs due ticks in order and stops those that were stopped', async (t) => {
  const clock = new ManualClock(1_000)
  const seen: string[] = []
  const stop = clock.every(30, () => seen.push(`a${clock.now()}`))
  clock.every(50, () => seen.push(`b${clock.now()}`))
  clock.advance(60)
  stop()
  clock.advance(60)
  t.strictSame(seen, ['a1030', 'b1050', 'a1060', 'b1100'])
})

t.test('Resources stop in reverse order, once, despite failures and hangs', async (t) => {
  const lines: string[] = []
  const resources = new Resources(
    textLog('info', (line) => lines.push(line)),
    () => 20,
  )
  const stopped: string[] = []
  resources.add('first', () => void stopped.push('first'))
  resources.add('hangs', () => new Promise(() => {}))
  resources.add('fails', () => Promise.reject(new Error('broken')))
  resources.add('last', async () => void stopped.push('last'))
  await resources.close()
  await resources.close()
  t.strictSame(stopped, ['last', 'first'])
  t.match(lines.join(''), /part=fails.*broken/)
  t.match(lines.join(''), /part=hangs.*not stopped after 20 ms/)
})

t.test('textLog writes one line per event with its values, from its level on', async (t) => {
  const lines: string[] = []
  const log = textLog(
    'warn',
    (line) => lines.push(line),
    () => 0,
  )
  log.info('hidden')
  log.warn('disk nearly full', { store: 'CAS', message: 'two words', usedBytes: 7 })
  t.strictSame(lines, ['1970-01-01T00:00:00.000Z warn  disk nearly full store=CAS message="two words" usedBytes=7\n'])
})

t.test('the name of a peer cannot control the terminal that shows the log', async (t) => {
  const lines: string[] = []
  textLog('info', (line) => lines.push(line)).info('a worker \u001b[2J connected', { name: 'w\u009b1m\u007f' })
  t.match(lines[0], /a worker \u241b\[2J connected name=/)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  t.notMatch(lines[0]?.trimEnd(), /[\u0000-\u001f\u007f-\u009f]/)
})

t.test('a file system error says what was attempted, without a path, with the code of its errno', async (t) => {
  const refused = (code: string) => Object.assign(new Error(`${code}: open '/secret/place'`), { code })
  const full = fileFailure(refused('ENOSPC'), 'could not write blob a-1')
  t.equal(full.code, Code.RESOURCE_EXHAUSTED)
  t.equal(full.message, 'could not write blob a-1: the disk is full (ENOSPC)')
  for (const [errno, code] of [
    ['EIO', Code.DATA_LOSS],
    ['EEXIST', Code.ALREADY_EXISTS],
    ['ENAMETOOLONG', Code.INVALID_ARGUMENT],
    ['EACCES', Code.INTERNAL],
    ['EUNHEARDOF', Code.INTERNAL],
  ] as const) {
    const failure = fileFailure(refused(errno), 'input "a"')
    t.equal(failure.code, code, errno)
    t.notMatch(failure.message, /secret/)
  }
  t.equal(fileFailure(new Error('/secret/place'), 'input "a"').message, 'input "a": internal error')
  t.equal(fileFailure(full, 'input "a"'), full, 'a status passes')
})
