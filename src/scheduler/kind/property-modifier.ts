import type { PropertyModifierSchedulerOptions } from '../../config/config.js'
import type { PlatformProperty } from '../../reapi/platform.js'
import { ForwardingScheduler } from '../forwarding.js'
import type { SchedulerKind } from '../kind.js'
import type { ExecutionRequest, Scheduler } from '../scheduler.js'

type Modification = PropertyModifierSchedulerOptions['modifications'][number]

/** Changes the platform properties of requests. The action and its digest stay unchanged. */
export const propertyModifier: SchedulerKind<PropertyModifierSchedulerOptions> = {
  build: async ({ modifications, scheduler }, { child }) => new PropertyModifier(await child(scheduler), modifications),
}

class PropertyModifier extends ForwardingScheduler {
  readonly #modifications: readonly Modification[]

  constructor(next: Scheduler, modifications: readonly Modification[]) {
    super(next)
    this.#modifications = modifications
  }

  override checkPlatform(properties: readonly PlatformProperty[]): Promise<void> {
    return this.next.checkPlatform(modified(properties, this.#modifications))
  }

  override incoming(request: ExecutionRequest): ExecutionRequest {
    return { ...request, properties: modified(request.properties, this.#modifications) }
  }
}

/** Applies the modifications in order: each one sees the result of those before it. */
export const modified = (
  properties: readonly PlatformProperty[],
  modifications: readonly Modification[],
): readonly PlatformProperty[] => modifications.reduce(changed, properties)

const changed = (properties: readonly PlatformProperty[], change: Modification): readonly PlatformProperty[] => {
  if ('add' in change) return [...properties.filter(({ name }) => name !== change.add.name), change.add]
  if ('remove' in change) return properties.filter(({ name }) => name !== change.remove)
  const { name, value, new_name, new_value } = change.replace
  return properties.map((property) => {
    if (property.name !== name || (value !== undefined && property.value !== value)) return property
    return { name: new_name, value: new_value ?? property.value }
  })
}
