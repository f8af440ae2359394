import type { Command } from '../../proto/generated/build.bazel.remote.execution.v2.js'
import type { PlatformProperty } from '../../reapi/platform.js'

/** Where the value of an additional variable comes from, as the configuration says it. */
export type EnvironmentSource =
  | 'from_environment'
  | 'timeout_millis'
  | 'side_channel_file'
  | 'action_directory'
  | { readonly property: string }
  | { readonly value: string }

/** What the sources refer to. */
export interface EnvironmentFacts {
  /** PATH where neither the command nor the configuration sets one; empty for none. */
  readonly defaultPath: string
  readonly timeoutMs: number
  readonly sideChannelPath: string
  readonly actionDirectory: string
  readonly properties: readonly PlatformProperty[]
}

/**
 * The whole environment of a command: a PATH, the configured additions, then what the Command declares, each winning over
 * those before it (REAPI Command.environment_variables lets a worker have defaults). Nothing else of this process's
 * environment gets in. A source that has no value here (a property the action did not ask for, a variable this process
 * lacks) adds nothing.
 */
export const commandEnvironment = (
  command: Pick<Command, 'environmentVariables'>,
  additional: ReadonlyMap<string, EnvironmentSource>,
  facts: EnvironmentFacts,
): Record<string, string> => {
  // Without a prototype a variable may be called `__proto__`.
  const environment: Record<string, string> = Object.create(null)
  // The program itself is found without one, but not what it starts by name: gcc its linker.
  if (facts.defaultPath !== '') environment['PATH'] = facts.defaultPath
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
