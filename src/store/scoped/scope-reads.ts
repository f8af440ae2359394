/** Where a caller with a scope found the result of an action; `none` if nowhere. */
export const SCOPE_LAYERS = ['own', 'shared', 'parent', 'none'] as const
export type ScopeLayer = (typeof SCOPE_LAYERS)[number]

/** How often callers with a scope found a result in each layer, since the start. */
export type ScopeReads = Record<ScopeLayer, number>

export const noReads = (): ScopeReads => ({ own: 0, shared: 0, parent: 0, none: 0 })
