import type { Command } from '../../proto/generated/build.bazel.remote.execution.v2.js'
import type { PlatformProperty } from '../../reapi/platform.js'

/** The source of an additional variable's value, as configured. */
export type EnvironmentSource =
  | 'from_environment'
  | 'timeout_millis'
  | 'side_channel_file'
  | 'action_directory'
  | { readonly property: string }
  | { readonly value: string }

/** The values that sources refer to. */
export interface EnvironmentFacts {
  /** PATH if neither the command nor the configuration sets one; empty for none. */
  readonly defaultPath: string
  readonly timeoutMs: number
  readonly sideChannelPath: string
  readonly actionDirectory: string
  readonly properties: readonly PlatformProperty[]
  /** Variables of the image that the command runs in, as `NAME=value`. */
  readonly ofImage?: readonly string[]
}

/**
 * The whole environment of a command. Later entries override earlier ones: a default PATH, the variables of its image, the
 * configured additions, the variables of the Command (REAPI Command.environment_variables allows defaults). Nothing else is inherited from
 * this process. A source without a value adds nothing, such as a property that the action does not have or a variable
 * that this process lacks.
 */
export const commandEnvironment = (
  command: Pick<Command, 'environmentVariables'>,
  additional: ReadonlyMap<string, EnvironmentSource>,
  facts: EnvironmentFacts,
): Record<string, string> => {
  // No prototype, because a variable may be called `__proto__`.
  const environment: Record<string, string> = Object.create(null)
  // Programs that the command starts by name need PATH, e.g. gcc for its linker. The command itself is found without
  // it.
  if (facts.defaultPath !== '') environment['PATH'] = facts.defaultPath
  for (const text of facts.ofImage ?? []) {
    const end = text.indexOf('=')
    environment[text.slice(0, end)] = text.slice(end + 1)
  }
  for (const [name, source] of additional) {
    const value = resolve(name, source, facts)
    if (value !== undefined) environment[name] = value
  }
  for (const { name, value } of command.environmentVariables) environment[name] = value
  return environment
}

const resolve = (name: string, source: EnvironmentSource, facts: EnvironmentFacts): string | undefined => {
  switch (source) {
    case 'from_environment':
      return process.env[name]
    case 'timeout_millis':
      return String(facts.timeoutMs)
    case 'side_channel_file':
      return facts.sideChannelPath
    case 'action_directory':
      return facts.actionDirectory
    default:
      if ('value' in source) return source.value
      return facts.properties.find((property) => property.name === source.property)?.value
  }
}
