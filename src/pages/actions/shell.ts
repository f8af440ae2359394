import { quote } from 'shlex'
import type { Command } from '../../proto/generated/build.bazel.remote.execution.v2.js'

/**
 * The command for a shell, to paste where its input root lies: exactly its environment, its working directory and its
 * arguments. Texts with line ends and quotes stay what they are.
 */
export const shellCommand = ({ arguments: words, environmentVariables, workingDirectory }: Command): string => {
  const variables = environmentVariables.map(({ name, value }) => `  ${quote(`${name}=${value}`)} \\\n`)
  const place = workingDirectory === '' ? '' : `cd ${quote(workingDirectory)} && `
  return `${place}env -i \\\n${variables.join('')}${words.map((word) => `  ${quote(word)}`).join(' \\\n')}\n`
}
