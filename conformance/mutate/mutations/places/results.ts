import { getActionResult } from '../../../wire/methods.js'
import { cleanedTarget } from '../../edge-faults.js'
import type { ActionResult } from '../../execution.js'
import { type Mutation, onResponse } from '../../mutation.js'

// Mutations of seeded/places.tsv whose place is the result of a lookup.

/** Exchanges one field of the first two entries. */
export const swapFirstTwo = <E extends object, K extends keyof E>(list: readonly E[], field: K): void => {
  const [one, two] = list
  if (one && two) [one[field], two[field]] = [two[field], one[field]]
}

const onLookup = (edit: (result: ActionResult) => void) => (): ReturnType<typeof onResponse> =>
  onResponse(getActionResult, edit)

export const resultPlaceMutations: readonly Mutation[] = [
  {
    name: 'symlink-target-normalised',
    breaks: 'GetActionResult: targets in output_symlinks lose dots and parent steps.',
    caughtBy: ['ACU-15'],
    tamper: onLookup(({ outputSymlinks }) => {
      for (const link of outputSymlinks) link.target = cleanedTarget(link.target)
    }),
  },
  {
    name: 'symlink-target-cut',
    breaks: 'GetActionResult: targets in output_file_symlinks lose a slash at their end.',
    caughtBy: ['ACU-15'],
    tamper: onLookup(({ outputFileSymlinks }) => {
      for (const link of outputFileSymlinks) link.target = link.target.replace(/\/$/, '')
    }),
  },
  {
    name: 'symlink-kinds-swapped',
    breaks: 'GetActionResult: output_file_symlinks and output_directory_symlinks change places.',
    caughtBy: ['ACU-09'],
    tamper: onLookup((result) => {
      const { outputFileSymlinks, outputDirectorySymlinks } = result
      result.outputFileSymlinks = outputDirectorySymlinks
      result.outputDirectorySymlinks = outputFileSymlinks
    }),
  },
  {
    name: 'inlined-contents-swapped',
    breaks: 'GetActionResult: of two inlined files each has the contents of the other.',
    caughtBy: ['ACG-09'],
    tamper: onLookup(({ outputFiles }) =>
      swapFirstTwo(
        outputFiles.filter(({ contents }) => contents.length > 0),
        'contents',
      ),
    ),
  },
  {
    name: 'stdout-stderr-swapped',
    breaks: 'GetActionResult: stdout_raw and stderr_raw change places.',
    caughtBy: ['ACU-15'],
    tamper: onLookup((result) => {
      const { stdoutRaw, stderrRaw } = result
      result.stdoutRaw = stderrRaw
      result.stderrRaw = stdoutRaw
    }),
  },
  {
    name: 'executable-swapped',
    breaks: 'GetActionResult: of two output files the other one is executable.',
    caughtBy: ['ACG-02'],
    tamper: onLookup(({ outputFiles }) => swapFirstTwo(outputFiles, 'isExecutable')),
  },
  {
    name: 'output-files-to-a-limit',
    breaks: 'GetActionResult: output files after the thousandth are missing.',
    caughtBy: ['ACU-15'],
    tamper: onLookup((result) => {
      result.outputFiles = result.outputFiles.slice(0, 1_000)
    }),
  },
  {
    name: 'paths-without-case',
    breaks: 'GetActionResult: of output files whose paths differ only in case the second is missing.',
    caughtBy: ['ACU-15'],
    tamper: onLookup((result) => {
      const paths = new Set<string>()
      result.outputFiles = result.outputFiles.filter(({ path }) => paths.size < paths.add(path.toLowerCase()).size)
    }),
  },
  {
    name: 'trees-swapped',
    breaks: 'GetActionResult: of two output directories each has the Tree of the other.',
    caughtBy: ['ACG-02'],
    tamper: onLookup(({ outputDirectories }) => swapFirstTwo(outputDirectories, 'treeDigest')),
  },
  {
    name: 'root-directory-digest-dropped',
    breaks: 'GetActionResult: root_directory_digest is missing.',
    caughtBy: ['ACU-09'],
    tamper: onLookup(({ outputDirectories }) => {
      for (const directory of outputDirectories) directory.rootDirectoryDigest = null
    }),
  },
  {
    name: 'timestamps-rounded',
    breaks: 'GetActionResult: output_upload_completed_timestamp has no nanoseconds below a microsecond.',
    caughtBy: ['ACU-09'],
    tamper: onLookup(({ executionMetadata }) => {
      const at = executionMetadata?.outputUploadCompletedTimestamp
      if (at) at.nanos -= at.nanos % 1_000
    }),
  },
  {
    name: 'auxiliary-metadata-dropped',
    breaks: 'GetActionResult: the second message of auxiliary_metadata is missing.',
    caughtBy: ['ACU-09'],
    tamper: onLookup(({ executionMetadata }) => executionMetadata?.auxiliaryMetadata.splice(1, 1)),
  },
  {
    name: 'exit-code-to-eight-bits',
    breaks: 'GetActionResult: the exit code is that modulo 256.',
    caughtBy: ['ACU-15'],
    tamper: onLookup((result) => {
      result.exitCode %= 256
    }),
  },
  {
    name: 'mtime-rounded',
    breaks: 'GetActionResult: the mtime of output files is in whole seconds.',
    caughtBy: ['ACU-09'],
    tamper: onLookup(({ outputFiles }) => {
      for (const { nodeProperties } of outputFiles) if (nodeProperties?.mtime) nodeProperties.mtime.nanos = 0
    }),
  },
  {
    name: 'property-of-equal-name-dropped',
    breaks: 'GetActionResult: of two node properties the second is missing.',
    caughtBy: ['ACU-09'],
    tamper: onLookup(({ outputFiles }) => {
      for (const { nodeProperties } of outputFiles) nodeProperties?.properties.splice(1, 1)
    }),
  },
  {
    name: 'stdout-re-encoded',
    breaks: 'GetActionResult: bytes of stdout_raw that are no UTF-8 become U+FFFD.',
    caughtBy: ['ACU-15'],
    tamper: onLookup((result) => {
      result.stdoutRaw = Buffer.from(result.stdoutRaw.toString())
    }),
  },
  {
    name: 'path-normalised-unicode',
    breaks: 'GetActionResult: paths of output files are in normal form C.',
    caughtBy: ['ACU-15'],
    tamper: onLookup(({ outputFiles }) => {
      for (const file of outputFiles) file.path = file.path.normalize('NFC')
    }),
  },
  {
    name: 'path-trimmed',
    breaks: 'GetActionResult: paths of output files lose spaces at their end.',
    caughtBy: ['ACU-15'],
    tamper: onLookup(({ outputFiles }) => {
      for (const file of outputFiles) file.path = file.path.trimEnd()
    }),
  },
]
