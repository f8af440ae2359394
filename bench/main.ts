import { parseArguments, USAGE } from './arguments.js'
import type { Case } from './case.js'
import { allCases } from './cases.js'
import { hasH2load } from './load/h2load.js'
import { machine } from './machine.js'
import { markdown } from './markdown.js'
import { reasonOf } from './measure.js'
import { figuresText, heading, observationText } from './report.js'
import { asJson, type BuildObservation, load, type Result, type Results, save } from './results.js'
import { Run } from './run.js'
import { pinApart } from './server/pin.js'
import { memoryPlace, usualPlace } from './server/place.js'

const parse = (): ReturnType<typeof parseArguments> => {
  try {
    return parseArguments(process.argv.slice(2))
  } catch (error) {
    process.stderr.write(`${reasonOf(error)}\n\n${USAGE}`)
    return process.exit(2)
  }
}

const options = parse()

const isWanted = ({ name }: Case): boolean =>
  options.only.length === 0 || options.only.some((part) => name.includes(part))

const print = (text: string): void => void process.stdout.write(text)

const say = (text: string): void => {
  if (!options.isJson) print(`${text}\n`)
}

/** Slow cases run in a quick run only when their whole name is asked for. */
const isLeftOut = ({ isSlow, name }: Case): boolean =>
  isSlow === true && options.isQuick && !options.only.includes(name)

const emptyResults = (): Results => {
  const startedAt = machine()
  const { rounds, processes, isQuick, isPinned, clients, target, against } = options
  return {
    startedAt,
    endedAt: startedAt,
    options: {
      rounds,
      processes: against === undefined ? 1 : processes,
      isQuick,
      isPinned,
      clients,
      target: target?.address,
    },
    generator: hasH2load ? 'h2load' : 'the bench itself, slower',
    files: memoryPlace === undefined ? usualPlace.name : `${usualPlace.name}, or ${memoryPlace.name} where it is said`,
    results: [],
    leftOut: [],
  }
}

const main = async (): Promise<void> => {
  const wanted = allCases(options).filter(isWanted)
  if (options.isList) return print(wanted.map(({ name }) => `${name}\n`).join(''))
  if (wanted.length === 0) throw new Error(`no case has ${options.only.join(' or ')} in its name; --list prints them`)
  if (options.isPinned) pinApart()
  const all = emptyResults()
  say(
    `${all.startedAt}\n${options.rounds} rounds${options.against === undefined ? '' : ` of each of ${options.processes} processes`}${options.isPinned ? ', pinned' : ''}; equal calls are driven by ${all.generator}; files on ${all.files}`,
  )
  if (!hasH2load) say('install nghttp2-client (Debian) for h2load: until then rates may be those of the generator')
  say(heading)
  await measureAll(wanted, all)
  const minutes = all.results.reduce((sum, { seconds }) => sum + seconds, 0) / 60
  if (all.leftOut.length > 0) say(`left out by --quick: ${all.leftOut.join(', ')}`)
  const guestless = all.results.filter((result) => 'failures' in result && result.failures.length > 0)
  if (guestless.length > 0) say(`not done by the other server: ${guestless.map(({ name }) => name).join(', ')}`)
  say(`${all.endedAt}\n${all.results.length} cases in ${minutes.toFixed(1)} minutes`)
  if (options.isJson) print(asJson(all))
  if (all.results.some((result) => 'error' in result)) process.exitCode = 1
}

const measureAll = async (wanted: readonly Case[], all: Results): Promise<void> => {
  const run = new Run(options)
  all.leftOut = wanted.filter(isLeftOut).map(({ name }) => name)
  try {
    for (const subject of wanted.filter((each) => !isLeftOut(each))) {
      all.results.push(await perform(run, subject))
      all.endedAt = machine()
      if (options.savePath !== undefined) save(options.savePath, all)
    }
  } finally {
    await run.stop()
  }
}

const perform = async (run: Run, subject: Case): Promise<Result> => {
  const startMs = performance.now()
  const seconds = (): number => Math.round(performance.now() - startMs) / 1000
  const { name } = subject
  try {
    if (subject.kind === 'event') {
      const observations = await observe(run, subject)
      return { name, seconds: seconds(), observations }
    }
    const figures = await run.rate(subject)
    say(figuresText(figures))
    return { seconds: seconds(), ...figures }
  } catch (error) {
    const reason = reasonOf(error)
    say(`${name}\n  could not be measured: ${reason}`)
    return { name, seconds: seconds(), error: reason }
  }
}

const observe = async (run: Run, subject: Extract<Case, { kind: 'event' }>): Promise<BuildObservation[]> => {
  say(subject.name)
  const observations: BuildObservation[] = []
  for await (const { build, observation } of run.observe(subject)) {
    observations.push({ build, ...observation })
    say(observationText(build, observation))
  }
  return observations
}

if (options.isHelp) print(USAGE)
else if (options.markdownOf.length > 0) print(markdown(options.markdownOf.map(load)))
else await main()
