import { StatusError } from '../base/status-error.js'

/** A `Platform.Property`: a requirement on the worker. A name may occur with several values. */
export interface PlatformProperty {
  readonly name: string
  readonly value: string
}

/** The wire form: `build.bazel.remote.execution.v2.Platform`. */
export interface PlatformMessage {
  readonly properties: readonly PlatformProperty[]
}

/**
 * The properties that an action requests, sorted by name and value: `Action.platform`, or `Command.platform`
 * if the action has none (clients before REAPI 2.2). Accepts unsorted properties. Throws INVALID_ARGUMENT for
 * a property without a name.
 */
export const requestedProperties = (
  action: { readonly platform: PlatformMessage | null },
  command: { readonly platform: PlatformMessage | null },
): readonly PlatformProperty[] => {
  const properties = (action.platform ?? command.platform)?.properties ?? []
  for (const { name, value } of properties) {
    if (name !== '') continue
    const found = JSON.stringify(value)
    throw new StatusError('INVALID_ARGUMENT', `platform property with value ${found} has no name, expected one`)
  }
  return properties.map(({ name, value }) => ({ name, value })).sort(byNameThenValue)
}

const byNameThenValue = (a: PlatformProperty, b: PlatformProperty): number =>
  compare(a.name, b.name) || compare(a.value, b.value)

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
