import type { SeededFault } from './seeded.js'

/** Why a fault says nothing else than the truth did; undefined when it does. */
export const free = (fault: SeededFault): string | undefined => rules.find((rule) => rule.applies(fault))?.reason

const rules: readonly { readonly reason: string; applies(fault: SeededFault): boolean }[] = []
