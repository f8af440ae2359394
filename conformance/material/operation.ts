import { CommandOutputDirectoryFormat } from '../../src/proto/generated/build.bazel.remote.execution.v2.js'
import { codec } from '../proto/codec.js'
import type { ActionPlan, Operation } from './action.js'

// Operations as more than one method tells of them.

const metadataCodec = codec('build.bazel.remote.execution.v2.ExecuteOperationMetadata')
const responseCodec = codec('build.bazel.remote.execution.v2.ExecuteResponse')

/** What an Operation tells, taken out of its packing; how it was serialized does not matter. */
export const told = ({ name, done, error, metadata, response }: Operation): object => ({
  name,
  done,
  error,
  metadata: metadata === null ? null : metadataCodec.decode(metadata.value),
  response: response === null ? null : responseCodec.decode(response.value),
})

/** An action with outputs of every kind. */
export const everyKind = (script = ''): ActionPlan => ({
  script: `${script} mkdir -p d/e; echo f > d/e/f; echo g > g; chmod +x g; ln -s g link; echo kept; echo err >&2`,
  command: { outputPaths: ['d', 'g', 'link'] },
  outputDirectories: ['d'],
})

/** An action with outputs as a client of before 2.1 names them, links in both lists, with what a server knows of nodes beside them. */
export const everyLegacyKind = (outputNodeProperties: readonly string[]): ActionPlan => ({
  script: 'mkdir -p d/e; echo f > d/e/f; echo g > g; ln -s g file; ln -s d dir',
  command: {
    outputFiles: ['g', 'file'],
    outputDirectories: ['d', 'dir'],
    outputNodeProperties,
    outputDirectoryFormat: CommandOutputDirectoryFormat.TREE_AND_DIRECTORY,
  },
})
