/** However large an event is, and whatever it says, a turn of the event loop takes a bounded part of it. */
import t from 'tap'
import { DetailReader } from '../../../src/builds/detail/details.js'
import { HiddenText } from '../../../src/builds/detail/hidden-text.js'
import { PIECE_BYTES, printedIn } from '../../../src/builds/detail/printed.js'
import { BuildSecrets } from '../../../src/builds/detail/secrets.js'
import { WordFinder } from '../../../src/builds/detail/word-finder.js'
import { Stream } from '../../../src/builds/log/record.js'
import { bazelEventIn, decodePayload, payloadIn } from '../../../src/builds/stored-event.js'
import { DetailsOfBuilds } from '../../../src/pages/builds/details.js'
import { terminalText } from '../../../src/pages/parts/terminal.js'
import { TimeSlices } from '../../../src/work/time-slices.js'
import { keepInvocations } from '../../pages/harness.js'
import { bazel, folderFor, openBuilds, progress } from '../harness.js'

const MIB = 2 ** 20
/** Gives up the turn at every step. */
const everyStep = () => new TimeSlices(0)

const taken = (reader: DetailReader, ...events: readonly Buffer[]): number => {
  let turns = 0
  for (const event of events) {
    for (const _ of reader.take({ stream: Stream.tool, number: 1, receivedMs: 0, event })) turns += 1
    turns += 1
  }
  return turns
}

const finderOf = (words: readonly string[]): WordFinder => {
  const work = WordFinder.of(words)
  for (;;) {
    const { done, value } = work.next()
    if (done) return value
  }
}

t.test('a progress event of 15 MB is shown in hundreds of turns', async (t) => {
  const reader = new DetailReader()
  const text = `${'y'.repeat(15_000_000)}\nend\n`
  const turns = taken(reader, progress(text))
  t.ok(turns >= text.length / PIECE_BYTES, `${turns} turns`)
  t.equal(reader.details(true).console.lines.at(-1)?.spans[0]?.text, 'end')
})

t.test(
  'what many readers see of a log of colours takes a turn of each piece, and ends when the last reader leaves',
  async (t) => {
    const path = await folderFor(t)
    const colours = progress('\u001b[31mx\u001b[0m\r\u001b[1A\u001b[K'.repeat(100_000))
    await keepInvocations(path, [{ id: 'one', events: Array.from({ length: 4 }, () => colours), isFinished: false }])
    const { builds } = await openBuilds(t, path)
    const [kept] = builds.withId('one')
    if (kept === undefined) throw new Error('not kept')
    let turns = 0
    let isCounting = true
    const count = (): void => {
      turns += 1
      if (isCounting) setImmediate(count)
    }
    setImmediate(count)
    await new DetailsOfBuilds(builds, undefined, everyStep()).of(kept, new AbortController().signal)
    isCounting = false
    t.ok(turns > (4 * colours.length) / PIECE_BYTES, `${turns} turns`)

    const [leaves, stays] = [new AbortController(), new AbortController()]
    let readBlocks = 0
    const records = builds.records.bind(builds)
    builds.records = async function* (key) {
      for await (const block of records(key)) {
        readBlocks += 1
        yield block
      }
    }
    const all = new DetailsOfBuilds(builds, undefined, everyStep())
    const both = [all.of(kept, leaves.signal), all.of(kept, stays.signal)]
    leaves.abort()
    await t.rejects(both[0] as Promise<unknown>, { message: 'the call was cancelled' })
    t.equal((await both[1])?.readEvents, 4, 'the other reader gets it whole')
    const blocks = readBlocks
    const gone = new AbortController()
    const alone = new DetailsOfBuilds(builds, undefined, everyStep()).of(kept, gone.signal)
    gone.abort()
    await t.rejects(alone, { message: 'the call was cancelled' })
    t.ok(readBlocks < 2 * blocks, `${readBlocks - blocks} of ${blocks} blocks were read for nobody`)
  },
)

t.test('an event with millions of children, words or patterns is decoded in part', async (t) => {
  const id = { pattern: { pattern: Array.from({ length: 200_000 }, (_, at) => `//pattern:${at}`) } }
  const large = payloadIn(bazelEventIn(bazel({ id, expanded: {} })) as Buffer)
  const { event, isShortened } = decodePayload(large)
  t.equal(isShortened, true)
  t.equal(event.id?.pattern?.pattern[0], '//pattern:0')
  t.ok((event.id?.pattern?.pattern.length ?? 0) < 5000)
  const action = {
    success: false,
    exitCode: 7,
    type: 'Link',
    commandLine: Array.from({ length: 500_000 }, () => 'word'),
  }
  const reader = new DetailReader()
  taken(reader, bazel({ id: { actionCompleted: { label: '//a' } }, action }))
  const { failures, shortenedEvents } = reader.details(true)
  t.match(failures, [{ label: '//a', mnemonic: 'Link' }])
  t.equal(shortenedEvents, 1)
})

t.test('a command line of a million options is taken in parts, and hides the secrets of all of them', async (t) => {
  const option = Array.from({ length: 200_000 }, (_, at) => ({
    combinedForm: at === 199_999 ? '--action_env=LAST_TOKEN=last-secret-value' : `--jobs=${at}`,
  }))
  const line = bazel({
    structuredCommandLine: { commandLineLabel: 'original', sections: [{ sectionLabel: 'o', optionList: { option } }] },
  })
  const reader = new DetailReader()
  const turns = taken(reader, line, progress('says last-secret-value\n'))
  t.ok(turns > line.length / (64 * 1024), `${turns} turns`)
  const { commandLines, console } = reader.details(true)
  t.equal(commandLines[0]?.sections[0]?.words.length, 5001)
  t.equal(commandLines[0]?.sections[0]?.words.at(-1), '… 195000 more')
  t.equal(console.lines[0]?.spans[0]?.text, 'says (hidden)')
})

t.test('secrets that are all alike take as many steps as the text has characters', async (t) => {
  const secrets = new BuildSecrets()
  for (let at = 0; at < 500; at++) secrets.option(`--action_env=TOKEN=${'a'.repeat(20 + at)}b`)
  const finder = finderOf(Array.from({ length: 500 }, (_, at) => `${'a'.repeat(20 + at)}b`))
  let steps = 0
  const next = finder.next.bind(finder)
  finder.next = (node, code) => {
    steps += 1
    return next(node, code)
  }
  const hiding = new HiddenText(finder)
  hiding.take('a'.repeat(MIB))
  t.ok(steps <= MIB, `${steps} steps`)
  t.equal(secrets.hidden('a'.repeat(MIB)).length, MIB)
})

t.test('a secret is hidden across the pieces of a text, whatever their size', async (t) => {
  const words = ['super-secret', 'secret-long', 'abcabd', 'abcabcabd', 'bcabcx']
  const token = 'Bearer 0123456789abcdef'
  const text = `x super-secret-long y abcabcabcabd z ${token} abcabcx https://ann:hunter2@host/ super-secre super-secret`
  const whole = 'x (hidden) y abc(hidden) z Bearer *** a(hidden) https://***@host/ super-secre (hidden)'
  for (let size = 1; size <= text.length; size++) {
    const hiding = new HiddenText(finderOf(words))
    let shown = ''
    for (let at = 0; at < text.length; at += size) shown += hiding.take(text.slice(at, at + size))
    t.equal(shown + hiding.end(), whole, `in pieces of ${size}`)
  }
  const secrets = new BuildSecrets()
  secrets.option('--action_env=TOKEN=super-secret')
  const cut = `${'é'.repeat(PIECE_BYTES / 2 - 3)}super-secret`
  const { payload } = payloadIn(bazelEventIn(progress(cut)) as Buffer)
  t.equal([...printedIn(payload, secrets)].join(''), cut.replace('super-secret', '(hidden)'))
})

t.test('a hundred thousand colours make a page that is as short as others', async (t) => {
  const reader = new DetailReader()
  taken(reader, progress(`${'\u001b[31mx\u001b[0my'.repeat(390)}\n`.repeat(400)), progress('\u200b<&'.repeat(400_000)))
  const { lines } = reader.details(true).console
  const spans = lines.reduce((sum, line) => sum + line.spans.length, 0)
  t.ok(spans < 70_000, `${spans} spans`)
  let turns = 0
  const counting = { step: () => void turns++ } as unknown as TimeSlices
  const { markup } = await terminalText(lines, counting)
  t.ok(markup.length < 8 * MIB, `${markup.length} characters`)
  t.ok(turns > markup.length / MIB, `${turns} turns`)
  t.notMatch(markup, /<&/)
})
