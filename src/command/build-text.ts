import { counted, sizeText, timeText } from '../base/quantities.js'
import { cell } from './operator/table.js'

/** A build as the JSON of the pages has it. */
export interface ListedBuild {
  readonly id: string
  readonly instance: string
  /** Of a caller that is not trusted. */
  readonly scope?: string
  readonly outcome: string
  readonly startedAt?: string
  readonly tookMs?: number
  readonly command?: string
  readonly patterns: readonly string[]
  readonly user?: string
  readonly targets: { readonly count: number; readonly failed: number }
  readonly tests: { readonly count: number; readonly failed: number; readonly flaky: number }
  readonly cache?: { readonly hits?: number; readonly misses?: number; readonly countedBy: string }
}

export interface Failure {
  readonly label?: string
  readonly mnemonic?: string
  readonly attempt?: string
  readonly exitCode?: number
  readonly exitSaidBy?: 'server' | 'client'
  readonly reason?: string
  readonly execution?: { readonly worker?: string; readonly runMs?: number }
  readonly cases?: readonly { readonly name: string; readonly suite?: string; readonly message?: string }[]
  readonly log?: { readonly lines?: readonly string[]; readonly linesAbove?: number; readonly missing?: string }
  readonly message?: string
  readonly actionUrl?: string
  readonly reproduce: readonly string[]
}

export interface BuildFailures extends Partial<Omit<ListedBuild, 'id' | 'instance' | 'outcome'>> {
  readonly id: string
  readonly instance: string
  readonly outcome: string
  readonly failure?: string
  readonly failedTests?: readonly Failure[]
  readonly failedTestCount?: number
  readonly failedActions?: readonly Failure[]
  readonly failedActionCount?: number
  readonly flakyTests?: readonly string[]
  readonly artifacts?: readonly ListedArtifact[]
  readonly hasMoreArtifacts?: boolean
}

export interface ListedArtifact {
  readonly target?: string
  readonly name: string
  readonly sizeBytes?: number
  readonly url?: string
}

export const headText = (build: BuildFailures): string => {
  const { id, outcome, tookMs, command, patterns = [], user, cache, flakyTests = [] } = build
  const facts = [
    outcome,
    ...(tookMs === undefined ? [] : [`in ${timeText(tookMs)}`]),
    ...(user === undefined ? [] : [`by ${user}`]),
    ...(cache === undefined ? [] : [`${cache.hits ?? 0} hits, ${cache.misses ?? 0} misses`]),
  ]
  const flaky = flakyTests.length === 0 ? '' : `flaky: ${flakyTests.map(cell).join(', ')}\n`
  return `${cell([command, ...patterns].filter(Boolean).join(' ') || id)}: ${facts.map(cell).join(', ')}\n${cell(id)}\n${flaky}`
}

/** What failed, in the order in which people look at it. A terminal must not act on what a build says. */
export const failuresText = (build: BuildFailures): string => {
  const { failedTests = [], failedActions = [], failedTestCount = 0, failedActionCount = 0, failure } = build
  const all = [...failedTests, ...failedActions]
  if (all.length === 0) return failure === undefined ? 'nothing failed\n' : `${lineOf(failure)}\n`
  const more = failedTestCount + failedActionCount - all.length
  const rest = more > 0 ? `\nand ${counted(more, 'failure')} more\n` : ''
  return `${all.map((one) => `\n${failureText(one)}`).join('')}${rest}`
}

const MAX_ARTIFACTS = 20

/** What targets made, with addresses to download it. */
export const artifactsText = ({ artifacts = [], hasMoreArtifacts = false }: BuildFailures): string => {
  if (artifacts.length === 0) return ''
  const lines = artifacts.slice(0, MAX_ARTIFACTS).map(({ target = '', name, sizeBytes, url }) => {
    const size = sizeBytes === undefined ? '' : ` ${sizeText(sizeBytes)}`
    return `  ${lineOf(name)}${size} of ${lineOf(target)}${url === undefined ? ', not uploaded or not for you' : `\n    ${lineOf(url)}`}`
  })
  const isCut = hasMoreArtifacts || artifacts.length > MAX_ARTIFACTS
  return `\nartifacts:\n${lines.join('\n')}\n${isCut ? '  and more: the page .../artifacts of the build has all\n' : ''}`
}

const failureText = (of: Failure): string => {
  const { label = '', mnemonic, attempt, exitCode, exitSaidBy, reason, execution, cases = [], log, message } = of
  const exit = [
    ...(exitCode === undefined ? [] : [`exit code ${exitCode}`]),
    ...(reason === undefined ? [] : [reason]),
    ...(exitSaidBy === 'client' ? ['as the client says'] : []),
    ...(execution?.worker === undefined ? [] : [`worker ${execution.worker}`]),
  ]
  const lines = [
    `${[label, mnemonic, attempt]
      .filter(Boolean)
      .map((text) => lineOf(text ?? ''))
      .join(' ')}: ${lineOf(exit.join(', ') || 'failed')}`,
    ...cases.map(({ name, suite, message: words = '' }) => {
      const [first = ''] = words.split('\n')
      return `  ${lineOf([suite, name].filter(Boolean).join('.'))}${first === '' ? '' : `: ${lineOf(first)}`}`
    }),
    ...(log?.linesAbove ? [`  | (${counted(log.linesAbove, 'line')} above)`] : []),
    ...(log?.lines ?? []).map((line) => `  | ${lineOf(line)}`),
    ...(log?.lines === undefined && message !== undefined
      ? message.split('\n').map((line) => `  | ${lineOf(line)}`)
      : []),
    ...of.reproduce.map((line) => `  $ ${lineOf(line)}`),
  ]
  return `${lines.join('\n')}\n`
}

const MAX_LINE = 2000

const lineOf = (text: string): string => {
  const plain = text.replaceAll('\t', '  ').replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '?')
  return plain.length > MAX_LINE ? `${plain.slice(0, MAX_LINE - 1)}…` : plain
}
