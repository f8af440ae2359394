import { parseArguments, USAGE } from './arguments.js'
import type { Case } from './case.js'
import { allCases } from './cases.js'
import { hasH2load } from './load/h2load.js'
import { machine } from './machine.js'
import type { Figures } from './measure.js'
import { figuresText, heading, observationText } from './report.js'
import { Run } from './run.js'

const parse = (): ReturnType<typeof parseArguments> => {
  try {
    return parseArguments(process.argv.slice(2))
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`)
    return process.exit(2)
  }
}

const options = parse()

const isWanted = ({ name }: Case): boolean =>
  options.only.length === 0 || options.only.some((part) => name.includes(part))

const say = (text: string): void => void (options.isJson || process.stdout.write(`${text}\n`))

/** Slow cases run in a quick run only when their whole name is asked for. */
const isLeftOut = ({ isSlow, name }: Case): boolean =>
  isSlow === true && options.isQuick && !options.only.includes(name)

const main = async (): Promise<void> => {
  const wanted = allCases().filter(isWanted)
  if (options.isList) return void process.stdout.write(wanted.map(({ name }) => `${name}\n`).join(''))
  if (wanted.length === 0) throw new Error(`no case has ${options.only.join(' or ')} in its name; --list prints them`)
  const run = new Run(options)
  const startedAt = machine()
  const generator = hasH2load ? 'h2load' : 'this process, slower'
  const results: object[] = []
  const failures: string[] = []
  say(`${startedAt}\n${options.rounds} rounds; equal calls are driven by ${generator}`)
  if (!hasH2load) say('install nghttp2-client (Debian) for h2load: until then rates may be those of the generator')
  say(heading)
  try {
    for (const subject of wanted.filter((each) => !isLeftOut(each))) {
      try {
        results.push(await perform(run, subject))
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error)
        failures.push(subject.name)
        results.push({ name: subject.name, error: reason })
        say(`${subject.name}\n  could not be measured: ${reason}`)
      }
    }
  } finally {
    await run.stop()
  }
  const leftOut = wanted.filter(isLeftOut).map(({ name }) => name)
  if (leftOut.length > 0) say(`left out by --quick: ${leftOut.join(', ')}`)
  const endedAt = machine()
  say(endedAt)
  if (options.isJson) {
    process.stdout.write(`${JSON.stringify({ startedAt, endedAt, generator, results, leftOut }, undefined, 2)}\n`)
  }
  if (failures.length > 0) process.exitCode = 1
}

const perform = async (run: Run, subject: Case): Promise<object> => {
  if (subject.kind === 'rate') {
    const figures: Figures = await run.rate(subject)
    say(figuresText(figures))
    return figures
  }
  say(subject.name)
  const observations: object[] = []
  for await (const { build, observation } of run.observe(subject)) {
    observations.push({ build, ...observation })
    say(observationText(build, observation))
  }
  return { name: subject.name, observations }
}

if (options.isHelp) process.stdout.write(USAGE)
else await main()
