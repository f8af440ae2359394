/**
 * Puts each fault of list.tsv (drawn) and threads.tsv, packs.tsv and scopes.tsv (rules of what threads share, of files of several blobs, and of branches, by hand) into a copy of this checkout, and writes which tests notice it:
 *
 *   npx tsx test/mutants/main.ts --table FILE [--quick] [--work FOLDER] [--only REGEX] [--old COMMIT] [--before FILE] [--sample LIST [--minutes NUMBER]]
 *
 * First the tests of its room that run for each change, then the nightly files that .ci/run would add, then, if none failed, the files
 * of an older suite for the same room that neither ran: its commit is --old. A test counts if it passes without the fault.
 * With --quick a fault that the first tests do not notice, without those of longest-first.txt and of the room around, is left
 * `open`: a later start without --quick runs all of them, and goes on with the others. A row of the table has the verdict, the test,
 * the fault and seconds.
 * --before: an older table. What noticed a fault there runs first.
 * --sample: faults of another list (asynchrony.ts draws one), in its order: first the linter, then only the tests beside each. Those that none of them notices
 * are `open`. No fault begins after --minutes.
 * Interrupt it at any time: a row is written when its fault is done, and the next start goes on behind the last one.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { nearestOf, roomOf, testsOf } from './rooms.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
const NIGHTLY_LIMIT_S = 1200
/** A title may be the whole output of a program. */
const TITLE_CHARACTERS = 120
/** A fault may make a file wait for ever. */
const ROOM_LIMIT_S = 75
const RUNNER = 'scripts/test.mjs'

type Verdict = 'lint' | 'room' | 'nightly' | 'old only' | 'none' | 'open' | 'gone'
const MEANING: Readonly<Record<Verdict, string>> = {
  lint: 'the linter',
  room: 'tests of the room, for each change',
  nightly: 'nightly files, which a change to the room runs at once',
  'old only': 'only the older suite',
  none: 'no test',
  open: 'no test of the room for each change; others have not run',
  gone: 'the line is no longer there, or there twice',
}

interface Fault {
  readonly file: string
  readonly line: string
  readonly replacement: string
}
const keyOf = ({ file, line, replacement }: Fault): string => `${file}\t${line}\t${replacement}`

const rowsOf = (path: string): string[][] =>
  (existsSync(path) ? readFileSync(path, 'utf8') : '')
    .split('\n')
    .filter((row) => row !== '')
    .map((row) => row.split('\t'))

const execute = (cwd: string, command: string, ...args: readonly string[]): string => {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, encoding: 'utf8', maxBuffer: 1 << 28 })
  if (error) throw error
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} in ${cwd}: ${stdout}${stderr}`)
  return stdout
}

/** The running tests, in a process group of their own. */
let running: ChildProcess | undefined
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    if (running?.pid !== undefined) process.kill(-running.pid, 'SIGKILL')
    process.exit(130)
  })
}

/** The file and the test that failed first. The output of a file comes as a whole, below its name, when it has ended. */
const firstFailure = (output: string): { file: string; title: string } | undefined => {
  let file = ''
  for (const line of output.split('\n').slice(0, -1)) {
    file = /^# Subtest: (\S+)/.exec(line)?.[1] ?? file
    const [, title] = /^ {4,}not ok \d+ - (.*?)(?: # time=.*)?$/.exec(line) ?? []
    if (title !== undefined) return { file, title }
    const [, ended] = /^not ok \d+ - (test\/\S+)/.exec(line) ?? []
    if (ended !== undefined) return { file: ended, title: 'the file itself' }
  }
  return undefined
}

/** A copy of a commit in which faults are put. */
class Copy {
  readonly folder: string

  constructor(folder: string, commit: string) {
    this.folder = folder
    if (existsSync(folder)) return
    execute(root, 'git', 'worktree', 'add', '--quiet', '--detach', folder, commit)
    for (const part of ['.', 'scripts/build']) {
      if (existsSync(join(folder, part)))
        execute(root, 'cp', '-al', join(root, part, 'node_modules'), join(folder, part))
    }
  }

  /** Tests of the copy, as paths. */
  files(ending: string): string[] {
    return readdirSync(join(this.folder, 'test'), { recursive: true, encoding: 'utf8' })
      .map((path) => `test/${path}`)
      .filter((path) => path.endsWith(ending))
      .sort()
  }

  clean(): void {
    execute(this.folder, 'git', 'checkout', '--quiet', '--', 'src')
  }

  /** Whether the line is there once, and the fault now in its place. */
  put({ file, line, replacement }: Fault): boolean {
    this.clean()
    const path = join(this.folder, file)
    const lines = existsSync(path) ? readFileSync(path, 'utf8').split('\n') : []
    const at = lines.flatMap((one, index) => (one.trim() === line ? [index] : []))
    if (at.length !== 1) return false
    writeFileSync(
      path,
      lines.map((one, index) => (index === at[0] ? one.replace(line, () => replacement) : one)).join('\n'),
    )
    return true
  }

  /** An older suite may run its sources as they are. */
  get #isBuilt(): boolean {
    return existsSync(join(this.folder, RUNNER))
  }

  /** Whether the linter refuses a promise of this file. */
  isRefused(file: string): boolean {
    const args = ['-c', 'scripts/lint/promises.json', '-f', 'unix', 'src']
    const { stdout } = spawnSync('node_modules/.bin/oxlint', args, { cwd: this.folder, encoding: 'utf8' })
    return stdout.includes(`${file}:`)
  }

  build(): void {
    if (this.#isBuilt) execute(this.folder, process.execPath, 'scripts/build.mjs')
  }

  /** Runs these files until one fails; gives the file and its output, or undefined if all pass. */
  async failing(files: readonly string[], limitS?: number): Promise<{ file: string; title: string } | undefined> {
    if (files.length === 0) return undefined
    const limit = limitS === undefined ? [] : [`--timeout=${limitS}`]
    const args = ['--reporter=tap', '--jobs=1', ...limit, ...files]
    const runner = this.#isBuilt ? [process.execPath, RUNNER, '--as-given'] : ['node_modules/.bin/tap']
    const [command = '', ...before] = runner
    const child = spawn(command, [...before, ...args], {
      cwd: this.folder,
      stdio: ['ignore', 'pipe', 'ignore'],
      detached: true,
    })
    running = child
    let [output, found] = ['', firstFailure('')]
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text
      found ??= firstFailure(output)
      // The others need not end.
      if (found !== undefined && child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL')
    })
    const code = await new Promise<number | null>((done, reject) => {
      child.once('error', reject)
      child.once('close', done)
    })
    running = undefined
    if (code === 0 || found !== undefined) return found
    throw new Error(`tap ended with ${code} and names no failing file: ${output.slice(-2000)}`)
  }
}

const { values } = parseArgs({
  options: {
    table: { type: 'string' },
    work: { type: 'string', default: join(root, '..', 'mutants') },
    only: { type: 'string', default: '' },
    old: { type: 'string', default: 'a37497e' },
    quick: { type: 'boolean', default: false },
    before: { type: 'string' },
    sample: { type: 'string' },
    minutes: { type: 'string', default: 'Infinity' },
  },
})
if (values.table === undefined) throw new Error('--table FILE is missing')
const table = resolve(values.table)
const isSample = values.sample !== undefined
const isQuick = values.quick || isSample
mkdirSync(values.work, { recursive: true })
const now = new Copy(join(resolve(values.work), 'new'), 'HEAD')
/** Made for the first fault that it is needed for. */
const older = (() => {
  let copy: Copy | undefined
  return () => {
    copy ??= new Copy(join(resolve(values.work), 'old'), values.old)
    return copy
  }
})()

/** Files that fail without a fault, here and today: they say nothing. By copy and file. */
const broken = new Set<string>()
const sound = new Set<string>()

/** The first of these files that fails with the fault and passes without it. */
const noticedBy = async (
  copy: Copy,
  fault: Fault,
  files: readonly string[],
  limitS?: number,
): Promise<string | undefined> => {
  for (;;) {
    const found = await copy.failing(
      files.filter((file) => !broken.has(`${copy.folder} ${file}`)),
      limitS,
    )
    if (found === undefined) return undefined
    const key = `${copy.folder} ${found.file}`
    if (!sound.has(key)) {
      copy.clean()
      copy.build()
      const isBroken = (await copy.failing([found.file], limitS)) !== undefined
      if (!isBroken) sound.add(key)
      else broken.add(key)
      if (!isBroken) return shown(copy, found)
      process.stderr.write(`${found.file} fails without a fault too, and is left out\n`)
      copy.put(fault)
      copy.build()
      continue
    }
    return shown(copy, found)
  }
}

/** Without what is of this machine. */
const shown = ({ folder }: Copy, { file, title }: { readonly file: string; readonly title: string }): string =>
  `${file}: ${title
    .replaceAll(`${folder}/`, '')
    .replace(/ \{ seed: .*/, '')
    .slice(0, TITLE_CHARACTERS)}`

const longest = readFileSync(join(root, 'test/longest-first.txt'), 'utf8').split('\n')

/** The test file that noticed a fault before. */
const noticed = new Map(
  (values.before === undefined ? [] : rowsOf(values.before)).map(([, by = '', ...key]) => [
    key.slice(0, 3).join('\t'),
    by.slice(0, by.indexOf(':')),
  ]),
)

const asTest = (file: string): string => file.replace('.nightly.ts', '.test.ts')

const judge = async (fault: Fault): Promise<readonly [Verdict, string]> => {
  if (!now.put(fault)) return ['gone', '']
  if (isSample && now.isRefused(fault.file)) return ['lint', '']
  const room = roomOf(fault.file)
  const tests = now.files('.test.ts')
  const own = isSample ? nearestOf(fault.file, tests) : testsOf(room, tests, values.quick)
  now.build()
  const others = isQuick ? own.filter((file) => !longest.includes(file)) : own
  const before = noticed.get(keyOf(fault)) ?? ''
  const first = own.includes(before) ? [before, ...others.filter((file) => file !== before)] : others
  const inRoom = await noticedBy(now, fault, first, ROOM_LIMIT_S)
  if (inRoom !== undefined) return ['room', inRoom]
  if (isQuick) return ['open', '']
  now.put(fault)
  now.build()
  const nightly = execute(now.folder, 'node', '.ci/choose.mjs', 'changed', 'HEAD')
    .split('\n')
    .filter((file) => file !== '')
  const atNight = await noticedBy(now, fault, nightly, NIGHTLY_LIMIT_S)
  if (atNight !== undefined) return ['nightly', atNight]
  const then = older()
  if (!then.put(fault)) return ['none', 'the older suite has no such line']
  const ran = new Set([...own, ...nightly.map(asTest)])
  const unrun = testsOf(room, then.files('.test.ts')).filter((file) => !ran.has(file))
  then.build()
  const once = await noticedBy(then, fault, unrun, NIGHTLY_LIMIT_S)
  return once === undefined ? ['none', ''] : ['old only', once]
}

const LISTS = ['list.tsv', 'threads.tsv', 'packs.tsv', 'scopes.tsv'].map((name) => join(root, 'test/mutants', name))
const lists = values.sample === undefined ? LISTS : [resolve(values.sample)]
const all: Fault[] = lists.flatMap(rowsOf).map(([file = '', line = '', replacement = '']) => ({
  file,
  line,
  replacement,
}))
/** One of each room in turn, so that an unfinished table says something of all rooms. */
const turnOf = (fault: Fault): number => {
  const ofRoom = all.filter((one) => roomOf(one.file) === roomOf(fault.file))
  return ofRoom.indexOf(fault)
}
const faults = isSample ? all : [...all].sort((a, b) => turnOf(a) - turnOf(b))
const rows = rowsOf(table)
const kept = isQuick ? rows : rows.filter(([verdict]) => verdict !== 'open')
const done = new Set(kept.map(([, , file = '', line = '', replacement = '']) => keyOf({ file, line, replacement })))
const wanted = faults.filter((fault) => new RegExp(values.only).test(fault.file) && !done.has(keyOf(fault)))
const lastMs = performance.now() + Number(values.minutes) * 60_000
for (const [index, fault] of wanted.entries()) {
  if (performance.now() > lastMs) break
  const startMs = performance.now()
  const [verdict, by] = await judge(fault)
  const seconds = Math.round((performance.now() - startMs) / 1000)
  const others = rowsOf(table).filter(([, , ...key]) => key.slice(0, 3).join('\t') !== keyOf(fault))
  const lines = [...others.map((row) => row.join('\t')), `${verdict}\t${by}\t${keyOf(fault)}\t${seconds}`]
  writeFileSync(table, `${lines.join('\n')}\n`)
  process.stderr.write(
    `${index + 1}/${wanted.length} ${verdict} in ${seconds} s: ${fault.file}: ${fault.replacement}\n`,
  )
}
now.clean()
const verdicts = rowsOf(table).map(([verdict = '']) => verdict)
for (const [verdict, meaning] of Object.entries(MEANING)) {
  process.stdout.write(`${verdicts.filter((one) => one === verdict).length}\t${meaning}\n`)
}
