import type { SeededFault } from './seeded.js'

/** Why no row can object to this fault, though it changes what an answer says; undefined when one could. */
export const unseen = (fault: SeededFault): string | undefined => causes.find(({ of }) => of(fault))?.why

const causes: readonly { readonly why: string; of(fault: SeededFault): boolean }[] = [
  {
    why: 'no text says what this field of an answer holds',
    of: ({ path }) => path === 'validHost',
  },
  {
    why: 'a higher version than there is: a server may be newer than the suite',
    of: ({ path }) => /^(high|low)ApiVersion\.(minor|patch)$/.test(path),
  },
  {
    why: 'one byte more than the server says: it takes a batch of the size announced, and a larger one may be refused',
    of: ({ path, change }) => path.endsWith('maxBatchTotalSizeBytes') && change === 'off by one',
  },
]
