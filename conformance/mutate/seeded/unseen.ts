import type { SeededFault } from './seeded.js'

/** Why no row can object to this fault, though it changes what an answer says; undefined when one could. */
export const unseen = (fault: SeededFault): string | undefined => causes.find(({ of }) => of(fault))?.why

const causes: readonly { readonly why: string; of(fault: SeededFault): boolean }[] = [
  {
    why: 'no text says what this field of an answer holds',
    of: ({ path }) => path === 'validHost',
  },
  {
    why: 'a version that there is not: a server may be newer than the suite, and patch changes nothing of the protocol',
    of: ({ path }) => /^(high|low)ApiVersion\.(minor|patch)$/.test(path),
  },
  {
    why: 'servers of before 2.3 announce the singular function alone, and clients read that then',
    of: ({ path, change }) => path === 'executionCapabilities.digestFunctions' && change === 'dropped',
  },
  {
    why: 'one byte more than the server says: it takes a batch of the size announced, and a larger one may be refused',
    of: ({ path, change }) => path.endsWith('maxBatchTotalSizeBytes') && change === 'off by one',
  },
  {
    why: 'no text asks a server to cut by the function that was asked for; parts of a function that is not named are compared with nothing',
    of: ({ method, path, change }) =>
      method.endsWith('/SplitBlob') && path === 'chunkingFunction' && change === 'dropped',
  },
  {
    why: 'caught by SPL-10, which moves too many bytes to be tried on each fault of what every row asks first',
    of: ({ path }) => path.startsWith('cacheCapabilities.fastCdc2020Params.'),
  },
  {
    why: "details in a type of the server's own, which no text tells",
    of: ({ path }) => path.includes('.auxiliaryMetadata'),
  },
  {
    why: 'details of a run that goes on, which a server may leave out',
    of: ({ path, change }) => path.includes('.partialExecutionMetadata') && change === 'dropped',
  },
  {
    why: 'every second answer, and no row puts this question twice in a row: the one that it reads is the other',
    of: ({ isAlternate }) => isAlternate,
  },
  {
    why: 'few of the operations that are listed have this field, and the row compares the first forty that ended',
    of: ({ method }) => method.endsWith('/ListOperations'),
  },
]
