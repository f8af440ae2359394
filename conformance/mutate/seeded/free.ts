import type { SeededFault } from './seeded.js'

/** Why a fault says nothing else than the truth did; undefined when it does. */
export const free = (fault: SeededFault): string | undefined => rules.find((rule) => rule.applies(fault))?.reason

const rules: readonly { readonly reason: string; applies(fault: SeededFault): boolean }[] = [
  {
    reason: 'text for people to read',
    applies: ({ path }) => /(status\.message|errorMessage)$/.test(path),
  },
  {
    reason: 'the order of a list whose order means nothing',
    applies: ({ path, change }) =>
      change === 'swapped' && /(missingBlobDigests|Compressors|service|fileDescriptorProto|responses)$/.test(path),
  },
  {
    reason: 'a range or a list of which the server may announce more or less',
    applies: ({ path }) => /^(cache|execution)Capabilities\.(.*[pP]riorit|supported|maxBatch)/.test(path),
  },
  {
    reason: 'when something happened by the clock of the server, which nobody else has',
    applies: ({ method, path }) =>
      method.endsWith('Execution/Execute') && /executionMetadata\..*(Timestamp|Duration)/.test(path),
  },
  {
    reason: 'Operations, Health.List: rows of level may, where what the server does is only recorded',
    applies: ({ method }) => /Operations\/|Health\/List$/.test(method),
  },
  {
    reason: 'the question repeated in the answer of reflection, which clients do not read',
    applies: ({ path }) => path.startsWith('originalRequest'),
  },
]
