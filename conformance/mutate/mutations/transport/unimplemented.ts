import * as methods from '../../../wire/methods.js'
import { ended, instead, type Mutation } from '../../mutation.js'

const UNIMPLEMENTED = 12

/** Methods that the capabilities of the server behind the proxy claim, with the rows that say so. */
const claimed: readonly (readonly [methods.Method<methods.Any, methods.Any>, readonly string[]])[] = [
  [methods.findMissingBlobs, ['FMB-01', 'FMB-02', 'CAP-04']],
  [methods.batchUpdateBlobs, ['BUB-01', 'BUB-08']],
  [methods.batchReadBlobs, ['BRB-01']],
  [methods.getTree, ['TRE-01', 'TRE-02', 'TRE-09']],
  [methods.read, ['BSR-01', 'BSR-02', 'BSR-09', 'CMP-10']],
  [methods.write, ['BSW-01', 'BSW-12', 'BSW-18', 'CMP-01']],
  [methods.getActionResult, ['ACG-01', 'ACG-02', 'ACU-02']],
  [methods.updateActionResult, ['ACU-01', 'CAP-08']],
  [methods.execute, ['EXE-01', 'EXE-02', 'EXE-11', 'CAP-04']],
  [methods.waitExecution, ['WAI-01', 'WAI-02', 'EXE-35']],
]

export const unimplementedMutations: readonly Mutation[] = claimed.map(([method, caughtBy]) => ({
  name: `unimplemented-${method.name.replaceAll(/(?<=[a-z])[A-Z]/g, '-$&').toLowerCase()}`,
  breaks: `Capabilities announce a feature that needs ${method.name}, and ${method.name} is not implemented.`,
  caughtBy,
  leavesOut: [`${method.service.replace(/^.*\./, '')}.${method.name}`],
  tamper: () => instead(method, () => ended(UNIMPLEMENTED)),
}))
