import type { Cell } from './cell.js'

/** Why a cell is not tried: no row could see it, or a server may do this. Undefined when it is tried. */
export const reasonOf = (cell: Cell): string | undefined => RULES.find(({ of }) => of(cell))?.reason

interface Rule {
  readonly reason: string
  of(cell: Cell): boolean
}

const at =
  (carrier: RegExp, path: RegExp, more: (cell: Cell) => boolean = () => true) =>
  (cell: Cell): boolean =>
    carrier.test(cell.carrier.name) && path.test(cell.place.path) && more(cell)

const isOrdered = ({ way }: Cell): boolean => way === 're-ordered'
const isMany = ({ count = 0 }: Cell): boolean => count >= 1_000
const isOf =
  (...ways: readonly Cell['way'][]) =>
  ({ way }: Cell): boolean =>
    ways.includes(way)

/** Lists whose order says something: the canonical one of Directories, arguments, chunks, and what an Any or a Tree has first. */
const ORDERED = /^(files|directories|symlinks|root\.files|root\.directories|root\.symlinks|arguments|chunkDigests)$/

const RULES: readonly Rule[] = [
  {
    reason: 'the instance of a request: INS-01 to INS-06 send it to another',
    of: at(/./, /^instanceName$/),
  },
  {
    reason: 'no text gives an order to this list',
    of: (cell) => isOrdered(cell) && !(ORDERED.test(cell.place.path) && cell.carrier.name !== 'GetTree'),
  },
  {
    reason: 'a file system keeps no order; EXE-20 sends Directories that are not sorted',
    of: at(/^input root$/, /./, isOrdered),
  },
  {
    reason: 'arguments and chunks have no names to sort by',
    of: (cell) => isOrdered(cell) && /^(arguments|chunkDigests)$/.test(cell.place.path) && cell.alphabet !== 'reversed',
  },
  {
    reason: 'a text or detail for people, which no client reads',
    of: at(/./, /(^|\.)(message|details|details\[\].*|description|error|error\..*)$/),
  },
  {
    reason: 'fields of each Directory: the carrier of Directories tries them',
    of: at(/^GetTree$/, /\[\]/),
  },
  {
    reason: 'node properties are announced by no server at hand; node-properties-not-reported plays one for OUT-17',
    of: at(/^(Execute|Tree of an output|input root|Command)$/, /(nodeProperties|outputNodeProperties)/i),
  },
  {
    reason: 'node properties of legacy symlinks: those of output_symlinks are tried, and no client reads these',
    of: at(/^GetActionResult$/, /^output(File|Directory)Symlinks\[\]\.nodeProperties/),
  },
  {
    reason:
      'a server may leave times out and give them as coarse as it likes; EXE-47 and EXE-53 judge their order and length',
    of: at(
      /^(Execute|ExecuteOperationMetadata)$/,
      /(Timestamp|ExecutionDuration|partialExecutionMetadata|auxiliaryMetadata.*|executionMetadata\.worker)$/i,
    ),
  },
  {
    reason: 'details of a run that goes on, which EXE-54 compares as a whole with those of its result',
    of: at(/^ExecuteOperationMetadata$/, /^partialExecutionMetadata\./),
  },
  {
    reason: 'names of streams, if there are any: EXE-49 reads them',
    of: at(/^ExecuteOperationMetadata$/, /StreamName$/),
  },
  {
    reason: 'details of a type that no text tells, which a server may add and leave out',
    of: at(/^(Execute|Operation)$/, /auxiliaryMetadata/),
  },
  {
    reason: 'EXE-56 misses a hundred and fifty inputs: more would not fit in the trailers of a call',
    of: at(/^missing inputs$/, /./, isMany),
  },
  {
    reason: 'no client pushes thousands of names for one asset, and no text says that a server takes them',
    of: at(/^(Push|Fetch)/, /./, isMany),
  },
  {
    reason:
      'what follows the size is ignored; places.tsv drops uploads that have it, and BSW-02 sends every alphabet in it',
    of: at(/^Write, sent$/, /^resourceName$/, ({ alphabet }) => alphabet !== undefined),
  },
  {
    reason: 'the text of a name of a blob is digits, hex and words in ASCII',
    of: at(/^(Read, asked|missing inputs)$/, /(resourceName|subject|type)$/, ({ alphabet }) => alphabet !== undefined),
  },
  {
    reason: 'blobs that were asked for in another order, or once for each time, come all the same',
    of: at(/^(FindMissingBlobs|BatchReadBlobs)/, /./, isOf('swapped', 'equal merged')),
  },
  {
    reason: 'another Command or another root is another action: they have carriers of their own',
    of: at(/^Action$/, /^(commandDigest|inputRootDigest)$/),
  },
  {
    reason:
      'the server defines names and values of properties; CMD-16 to CMD-18, EXE-31 and EXE-32 judge what it does with them',
    of: at(/^(Action|Command)$/, /^platform/),
  },
  {
    reason: 'the salt is a part of the Action, whose digest is the key; CMD-19 sends two',
    of: at(/^Action$/, /^salt$/, ({ way, alphabet }) => way !== 'dropped' || alphabet !== undefined),
  },
  {
    reason: 'a server may measure time as coarse as it likes',
    of: at(/^Action$/, /^timeout$/, isOf('rounded')),
  },
  {
    reason: "the server's own name, in an alphabet of its choice",
    of: at(/^Operation$/, /^name$/, ({ alphabet }) => alphabet !== undefined),
  },
  {
    reason: 'packed messages, which have carriers of their own',
    of: at(/^Operation$/, /^(metadata|response)$/, isOf('swapped')),
  },
  {
    reason: 'no text gives an order to violations, and all are of one type',
    of: at(/^missing inputs$/, /./, isOf('swapped', 'equal merged')),
  },
  {
    reason: "the server's own name for a page, in an alphabet of its choice; TRE-06 sends it back",
    of: at(/^GetTree$/, /^nextPageToken$/, ({ alphabet }) => alphabet !== undefined),
  },
  {
    reason: 'a hint: a server may inline no file',
    of: at(/^(GetActionResult|Execute)$/, /^outputFiles\[\]\.contents$/, isOf('dropped')),
  },
  {
    reason: 'all codes of gRPC are below 256, so that eight bits lose nothing of them',
    of: at(/./, /status\.code$/, isOf('cut')),
  },
  {
    reason: 'a set of names: in another order it names the same',
    of: at(/^(Command|PushBlob, sent|PushDirectory, sent)$/, /^(outputPaths|uris)\[\]$/, isOf('swapped')),
  },
  {
    reason:
      'lists of servers for clients of 2.0, which OUT-09 and CMD-07 fill with one entry; the newer lists are tried at every count',
    of: at(
      /^(Execute|Command)$/,
      /^(output(File|Directory)Symlinks|outputFiles|outputDirectories)/,
      ({ carrier, place, count = 0, alphabet, way }) =>
        (carrier.name === 'Command' || place.path.includes('Symlinks')) &&
        (count > 1 ||
          alphabet !== undefined ||
          way === 'swapped' ||
          way === 'equal merged' ||
          way === 'counted to a limit'),
    ),
  },
  {
    reason: 'lists whose entries all differ: there is nothing equal to merge',
    of: at(
      /./,
      /(properties|auxiliaryMetadata|Symlinks|outputPaths|missingBlobDigests|violations|uris|qualifiers|responses|requests|environmentVariables|referencesBlobs|referencesDirectories|children)$/,
      isOf('equal merged'),
    ),
  },
  {
    reason: 'content that an asset refers to, which a server may keep with it; no answer tells it',
    of: at(/^Push/, /^references/),
  },
  {
    reason: 'times of pushed content, which a server may shorten; AST-10 pushes what has expired',
    of: at(/^(Push|Fetch)/, /^expire/),
  },
  {
    reason: 'what an answer may tell about the content besides; no text says that qualifiers come back',
    of: at(/^Fetch/, /^qualifiers/),
  },
  {
    reason: 'lists within lists are tried with none, one and all of their entries',
    of: ({ place, way, count = 0 }) => way === 'counted to a limit' && place.depth > 0 && count > 1,
  },
  {
    reason: 'types of packed messages are ASCII',
    of: at(/./, /typeUrl$/, ({ alphabet }) => alphabet !== undefined && alphabet !== 'ASCII'),
  },
  {
    reason: 'bytes that are no text: they are dropped with those that are',
    of: at(/^(GetActionResult|Execute)$/, /Raw$/, ({ alphabet, way }) => alphabet === 'text' && way === 'dropped'),
  },
  {
    reason:
      'each takes an execution, of seconds: the entries 1 and 1,500 are tried, and 2 and 1,000 where a lookup carries the same list',
    of: at(
      /^(Execute|Tree of an output|input root|Command)$/,
      /\[\]/,
      ({ count, way }) => way !== 'counted to a limit' && (count === 2 || count === 1_000),
    ),
  },
  {
    reason:
      'node properties of symlinks are those of files, and are tried there; here it is tried whether they come back',
    of: at(/^(GetActionResult|Directory of GetTree)$/, /(outputSymlinks|^symlinks)\[\]\.nodeProperties\./),
  },
  {
    reason:
      'a Directory below the root is one as the root is, whose fields are tried; here it is tried whether it is there',
    of: at(/^Tree of an output$/, /^children\[\]\..*(\[\]|Properties)/),
  },
  {
    reason: 'the entries of these lists have no equal content but their names, or equal ones are one by the text',
    of: at(/^(GetTree|Directory of GetTree)$/, /^(directories|symlinks)$/, isOf('equal merged')),
  },
  {
    reason: 'types of packed messages hold nothing to normalise',
    of: at(/./, /typeUrl$/, isOf('normalised', 're-encoded')),
  },
  {
    reason:
      'a copy that a server may leave out, and that GetActionResult tries for 1,500 files; EXE-39 compares what an execution inlines',
    of: at(/^Execute$/, /contents$/),
  },
  {
    reason: 'a copy that a server may leave out',
    of: at(/^Execute$/, /Raw$/, isOf('dropped', 'swapped')),
  },
  {
    reason: 'an exit code of a process has eight bits; ACU-15 stores others',
    of: at(/^Execute$/, /^exitCode$/, isOf('cut')),
  },
  {
    reason: 'a server need not claim it: OUT-05 judges a claim, and ACU-09 whether one that was stored comes back',
    of: at(/^Execute$/, /isTopologicallySorted$/),
  },
  {
    reason: 'given only where it was asked for: OUT-06 and OUT-07 ask, and ACU-09 stores 1,500',
    of: at(/^Execute$/, /rootDirectoryDigest$/),
  },
  {
    reason: 'a Directory has few properties of its own: the first and the second are tried',
    of: at(/^(Directory of GetTree|GetActionResult)$/, /^nodeProperties\.properties/, ({ count = 0 }) => count > 1),
  },
  {
    reason:
      'few symlinks in one directory, whose files and directories are 1,500: OUT-21, ACU-09 and TRE-14 have as many of these',
    of: at(/^(input root|Tree of an output)$/, /^(root\.)?symlinks/, isMany),
  },
  {
    reason: 'names of variables are ASCII letters, which every shell takes; their values have every alphabet',
    of: at(/^Command$/, /^environmentVariables\[\]\.name$/, ({ alphabet }) => alphabet !== undefined),
  },
  {
    reason: 'names of qualifiers are ASCII letters and dots; their values have every alphabet',
    of: at(/^Push/, /^qualifiers\[\]\.name$/, ({ alphabet }) => alphabet !== undefined),
  },
]
