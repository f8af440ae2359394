import { codec, type TypeName } from '../../proto/codec.js'
import type { Any, Method } from '../../wire/methods.js'
import * as methods from '../../wire/methods.js'
import { onAction, onFailure, onOperation, onResult, onTree } from '../execution.js'
import { onRequest, onResponse, type Tampering } from '../mutation.js'

/** Where messages of one type pass, and the rows that look at them, the most thorough first. */
export interface Carrier {
  readonly name: string
  readonly type: TypeName
  readonly rows: readonly string[]
  /** The rows to try first for places that match. */
  readonly first?: readonly (readonly [path: RegExp, rows: readonly string[]])[]
  on(edit: (message: Any) => void): readonly Tampering[]
}

const R = 'build.bazel.remote.execution.v2'
const A = 'build.bazel.remote.asset.v1'

const response = (method: Method<Any, Any>) => (edit: (message: Any) => void) => [onResponse(method, edit)]
const request = (method: Method<Any, Any>) => (edit: (message: Any) => void) => [onRequest(method, edit)]

const missingCodec = codec('google.rpc.PreconditionFailure')
const MISSING_INPUTS = 'type.googleapis.com/google.rpc.PreconditionFailure'

export const carriers: readonly Carrier[] = [
  {
    name: 'GetActionResult',
    type: `${R}.ActionResult`,
    rows: ['ACU-15', 'ACU-09', 'ACG-09', 'ACG-08', 'ACU-10', 'ACG-02'],
    first: [
      [
        /nodeProperties|executionMetadata|rootDirectoryDigest|isTopologicallySorted|^output(File|Directory)Sym/,
        ['ACU-09'],
      ],
      [/contents/, ['ACG-09']],
    ],
    on: response(methods.getActionResult),
  },
  {
    name: 'Execute',
    type: `${R}.ActionResult`,
    rows: ['OUT-18', 'OUT-21', 'OUT-08', 'EXE-55', 'EXE-52', 'OUT-07', 'OUT-09', 'OUT-01', 'EXE-39', 'EXE-46'],
    first: [
      [/^output(File|Directory)Symlinks/, ['OUT-09']],
      [/^output(Directories|Symlinks)/, ['OUT-21', 'OUT-08', 'OUT-07']],
      [/contents/, ['EXE-39']],
      [/^std/, ['EXE-55']],
      [/^exitCode/, ['EXE-52']],
      [/^executionMetadata/, ['EXE-46']],
    ],
    on: (edit) => onResult(edit),
  },
  {
    name: 'ExecuteOperationMetadata',
    type: `${R}.ExecuteOperationMetadata`,
    rows: ['EXE-04', 'EXE-05', 'EXE-49'],
    on: (edit) => onOperation(({ metadata }) => metadata && edit(metadata)),
  },
  {
    name: 'Operation',
    type: 'google.longrunning.Operation',
    rows: ['EXE-02', 'EXE-01', 'WAI-01', 'EXE-04'],
    on: (edit) => [onResponse(methods.execute, edit)],
  },
  {
    name: 'missing inputs',
    type: 'google.rpc.PreconditionFailure',
    rows: ['EXE-13', 'EXE-56'],
    on: (edit) =>
      onFailure(({ details }) => {
        for (const detail of details.filter(({ typeUrl }) => typeUrl === MISSING_INPUTS)) {
          const failure = missingCodec.decode(detail.value)
          edit(failure)
          detail.value = missingCodec.encode(failure)
        }
      }),
  },
  {
    name: 'GetTree',
    type: `${R}.GetTreeResponse`,
    rows: ['TRE-14', 'TRE-01', 'TRE-06'],
    on: response(methods.getTree),
  },
  {
    name: 'Directory of GetTree',
    type: `${R}.Directory`,
    rows: ['TRE-14', 'TRE-01'],
    on: (edit) => [onResponse(methods.getTree, ({ directories }) => directories.forEach(edit))],
  },
  {
    name: 'Tree of an output',
    type: `${R}.Tree`,
    rows: ['OUT-19', 'OUT-16', 'OUT-03'],
    on: (edit) =>
      onTree((tree) => {
        edit(tree)
        return undefined
      }),
  },
  {
    name: 'input root',
    type: `${R}.Directory`,
    rows: ['CMD-28', 'CMD-30', 'CMD-14'],
    on: (edit) => [onAction(({ root }) => edit(root))],
  },
  {
    name: 'Command',
    type: `${R}.Command`,
    rows: ['CMD-29', 'OUT-18', 'CMD-03', 'CMD-07', 'CMD-08', 'CMD-16', 'OUT-06'],
    first: [
      [/^outputPaths/, ['OUT-18']],
      [/^workingDirectory/, ['CMD-03']],
      [/^output(Files|Directories)/, ['CMD-07']],
    ],
    on: (edit) => [onAction(({ command }) => edit(command))],
  },
  {
    name: 'Action',
    type: `${R}.Action`,
    rows: ['CMD-19', 'CMD-25', 'EXE-08', 'EXE-26'],
    on: (edit) => [onAction(({ action }) => edit(action))],
  },
  {
    name: 'FindMissingBlobs, asked',
    type: `${R}.FindMissingBlobsRequest`,
    rows: ['FMB-13', 'FMB-01', 'DIG-02'],
    on: request(methods.findMissingBlobs),
  },
  {
    name: 'FindMissingBlobs',
    type: `${R}.FindMissingBlobsResponse`,
    rows: ['FMB-13', 'FMB-01', 'DIG-02'],
    on: response(methods.findMissingBlobs),
  },
  {
    name: 'BatchUpdateBlobs, sent',
    type: `${R}.BatchUpdateBlobsRequest`,
    rows: ['BUB-17', 'BUB-18', 'BUB-01', 'BUB-02'],
    on: request(methods.batchUpdateBlobs),
  },
  {
    name: 'BatchUpdateBlobs',
    type: `${R}.BatchUpdateBlobsResponse`,
    rows: ['BUB-18', 'BUB-17', 'BUB-01', 'BUB-02'],
    on: response(methods.batchUpdateBlobs),
  },
  {
    name: 'BatchReadBlobs, asked',
    type: `${R}.BatchReadBlobsRequest`,
    rows: ['BRB-12', 'BRB-01', 'BRB-05'],
    on: request(methods.batchReadBlobs),
  },
  {
    name: 'BatchReadBlobs',
    type: `${R}.BatchReadBlobsResponse`,
    rows: ['BRB-12', 'BRB-13', 'BRB-01', 'BRB-02', 'BRB-03'],
    on: response(methods.batchReadBlobs),
  },
  {
    name: 'Read, asked',
    type: 'google.bytestream.ReadRequest',
    rows: ['BSR-06', 'BSR-03', 'BSR-01'],
    on: request(methods.read),
  },
  {
    name: 'Read',
    type: 'google.bytestream.ReadResponse',
    rows: ['BSR-18', 'BSR-01'],
    on: response(methods.read),
  },
  {
    name: 'Write, sent',
    type: 'google.bytestream.WriteRequest',
    rows: ['BSR-18', 'BSW-02', 'BSW-07', 'BSW-01', 'BSW-09'],
    on: request(methods.write),
  },
  {
    name: 'Write',
    type: 'google.bytestream.WriteResponse',
    rows: ['BSW-12', 'BSW-01'],
    on: response(methods.write),
  },
  {
    name: 'QueryWriteStatus',
    type: 'google.bytestream.QueryWriteStatusResponse',
    rows: ['BSQ-01', 'BSQ-03'],
    on: response(methods.queryWriteStatus),
  },
  {
    name: 'SplitBlob',
    type: `${R}.SplitBlobResponse`,
    rows: ['SPL-13', 'SPL-02', 'SPL-12'],
    on: response(methods.splitBlob),
  },
  {
    name: 'SpliceBlob, sent',
    type: `${R}.SpliceBlobRequest`,
    rows: ['SPL-13', 'SPL-16', 'SPL-04'],
    on: request(methods.spliceBlob),
  },
  {
    name: 'SpliceBlob',
    type: `${R}.SpliceBlobResponse`,
    rows: ['SPL-04', 'SPL-13'],
    on: response(methods.spliceBlob),
  },
  {
    name: 'PushBlob, sent',
    type: `${A}.PushBlobRequest`,
    rows: ['AST-09', 'AST-12', 'AST-10'],
    on: request(methods.pushBlob),
  },
  {
    name: 'FetchBlob',
    type: `${A}.FetchBlobResponse`,
    rows: ['AST-12', 'AST-03', 'AST-09', 'AST-02'],
    on: response(methods.fetchBlob),
  },
  {
    name: 'PushDirectory, sent',
    type: `${A}.PushDirectoryRequest`,
    rows: ['AST-13', 'AST-08', 'AST-09'],
    on: request(methods.pushDirectory),
  },
  {
    name: 'FetchDirectory',
    type: `${A}.FetchDirectoryResponse`,
    rows: ['AST-13', 'AST-14', 'AST-08', 'AST-09'],
    on: response(methods.fetchDirectory),
  },
]

/** The rows that look at a place, the most likely first. */
export const rowsFor = ({ rows, first = [] }: Carrier, path: string): string[] => {
  const likely = first.find(([pattern]) => pattern.test(path))?.[1] ?? []
  return [...new Set([...likely, ...rows])]
}

/** Services whose messages are in no carrier, and why; every other service has a carrier or a method left out. */
export const SERVICES_LEFT_OUT: Readonly<Record<string, string>> = {
  [`${R}.Capabilities`]: 'says what the others do: the seeded faults change every field of it',
  'google.longrunning.Operations':
    'tells again what Execute told: OPS-05 compares the whole message, WAI-01 and WAI-04 that of WaitExecution',
  'build.bazel.remote.logstream.v1.LogStreamService': 'names of streams, whose bytes are those of Read',
  'google.devtools.build.v1.PublishBuildEvent': 'acknowledgements by number: BES-01 compares each',
  'grpc.health.v1.Health': 'a status for each service: HLT-05 compares all',
  'grpc.reflection.v1.ServerReflection': 'descriptors: REF-02 decodes each',
  'grpc.reflection.v1alpha.ServerReflection': 'descriptors: REF-02 decodes each',
}

/** Methods of the other services whose messages are in no carrier, and why. */
export const METHODS_LEFT_OUT: Readonly<Record<string, string>> = {
  'UpdateActionResult, sent': 'a lost field is missing in GetActionResult, where the same rows see it',
  UpdateActionResult: 'the result again: ACU-01 and ACU-09 compare it with that of GetActionResult',
  'GetActionResult, asked': 'a key and hints: ACG-05 and ACG-09 judge them',
  'Execute, sent': 'a key and hints: what the action consists of has carriers of its own',
  'WaitExecution, sent': 'a name: WAI-02 asks for one that there is not',
  WaitExecution: 'the operation again: WAI-01 and WAI-04 compare it with that of Execute',
  'GetTree, asked': 'a key and pages: TRE-05 and TRE-06 judge them',
  'QueryWriteStatus, asked': 'a name: BSQ-02 and BSQ-05 judge those that there are not',
  'SplitBlob, asked': 'a key: SPL-03 asks for one that there is not',
  'FetchBlob, asked': 'a key: what a wrong one brings is a field of the answer',
  'FetchDirectory, asked': 'a key: what a wrong one brings is a field of the answer',
  PushBlob: 'an empty message',
  PushDirectory: 'an empty message',
}
