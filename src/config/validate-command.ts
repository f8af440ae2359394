import { printable } from '../log/log.js'
import type { Config } from './config.js'
import { formatProblems, type ProblemFormat } from './format.js'
import { type Checked, checkConfig, type LoadOptions } from './load.js'
import type { Problem } from './problem.js'

/**
 * `remexec validate`: checks each file and writes the findings. Exit status: 0 if every file is usable, 1 if
 * one is not, 2 without files. `explain` describes each usable file, `judge` warns of what only its stores can say. The JSON form is one array
 * for all files, empty without findings.
 */
export const validateCommand = async (
  paths: readonly string[],
  {
    format,
    explain,
    judge = async () => [],
  }: {
    readonly format: ProblemFormat
    readonly explain?: ((config: Config) => Promise<readonly string[]>) | undefined
    readonly judge?: (checked: Checked) => Promise<readonly Problem[]>
  },
  write: (text: string) => void,
  options: LoadOptions = {},
): Promise<0 | 1 | 2> => {
  if (paths.length === 0) return 2
  const checked = await Promise.all(
    paths.map(async (path) => {
      const found = await checkConfig(path, options)
      return { ...found, warnings: [...found.warnings, ...(await judge(found))] }
    }),
  )
  const isWrong = checked.some(({ config }) => config === undefined)
  if (format === 'json') {
    write(
      formatProblems(
        checked.flatMap(({ problems, warnings }) => [...problems, ...warnings]),
        'json',
      ),
    )
    return isWrong ? 1 : 0
  }
  for (const [index, path] of paths.entries()) {
    const { problems = [], warnings = [], text, config } = checked[index] ?? {}
    const found = [...problems, ...warnings]
    if (found.length > 0)
      write(`${formatProblems(found, 'human', new Map(text === undefined ? [] : [[path, text]]))}\n`)
    write(
      `${printable(path)}: ${problems.length > 0 ? 'invalid' : 'valid'} (${count(problems.length, 'error')}, ${count(warnings.length, 'warning')})\n`,
    )
    if (explain !== undefined && config !== undefined) write(`${(await explain(config)).map(printable).join('\n')}\n\n`)
  }
  return isWrong ? 1 : 0
}

const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`
