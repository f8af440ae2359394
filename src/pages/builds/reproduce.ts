import type { FailedCase } from '../../builds/detail/test-report.js'
import { shellWord } from '../actions/reproduce.js'

/** The command line that runs a test again, only its first failed case if that has a name; undefined if it cannot be written. */
export const testCommand = (label: string, kind: string, cases: readonly FailedCase[]): string | undefined => {
  const [first] = cases
  const target = shellWord(label)
  if (target === undefined || !/^['@/]/.test(target)) return undefined
  const filter = first && shellWord(filterFor(first, kind))
  return filter === undefined ? `bazel test ${target}` : `bazel test ${target} --test_filter=${filter}`
}

/** As the usual test frameworks of a language name a case. */
const filterFor = ({ name, suite }: FailedCase, kind: string): string => {
  if (suite === '' || /^go_/.test(kind)) return name
  return /^(java|kt|scala)_/.test(kind) ? `${suite}#${name}` : `${suite}.${name}`
}
