import type { Observed } from '../exam/exam.js'

/** How one client reads one measured fact. One answer can suit one client and break another. */
interface Profile {
  /** The requirement whose check measures the fact. */
  readonly id: string
  readonly fact: string
  readonly client: string
  accepts(value: Observed): boolean
  /** What the client does with a value that it does not accept. */
  readonly otherwise: string
}

export interface Reading {
  readonly client: string
  readonly fact: string
  readonly value: Observed
  readonly accepts: boolean
  /** Empty if the client accepts the value. */
  readonly consequence: string
}

const isTrue = (value: Observed): boolean => value === true
const isText =
  (...texts: readonly string[]) =>
  (value: Observed): boolean =>
    texts.includes(String(value))
const isPositive = (value: Observed): boolean => Number(value) > 0

const SDK_CLIENTS = 'Go SDK (reclient, Please, remotetool)'

/** From the clients' sources, and from runs against a recording server. */
export const profiles: readonly Profile[] = [
  ...['Bazel up to 6', 'Please'].map((client) => ({
    id: 'CAP-02',
    fact: 'includes 2.0',
    client,
    accepts: isTrue,
    otherwise: 'refuses to start: it requires 2.0 within the announced range',
  })),
  {
    id: 'CAP-04',
    fact: 'has execution',
    client: 'Please',
    accepts: isTrue,
    otherwise: 'rejects servers without execution',
  },
  ...[SDK_CLIENTS, 'Siso'].map((client) => ({
    id: 'CAP-06',
    fact: 'singular digest function',
    client,
    accepts: isText('SHA256'),
    otherwise: 'refuses to start: it reads the singular field only and needs SHA256',
  })),
  {
    id: 'CAP-08',
    fact: 'update enabled',
    client: 'Bazel up to 7',
    accepts: isTrue,
    otherwise: 'refuses to start if it is configured to upload local results',
  },
  {
    id: 'CAP-08',
    fact: 'update enabled',
    client: 'Siso',
    accepts: () => true,
    otherwise: '',
  },
  {
    id: 'CAP-08',
    fact: 'update enabled',
    client: 'Please',
    accepts: isTrue,
    otherwise: 'cannot store the results that it generates for text files and filegroups',
  },
  {
    id: 'BUB-05',
    fact: 'batch limit',
    client: SDK_CLIENTS,
    accepts: isPositive,
    otherwise: 'sends no batches and writes each blob alone: it takes the 0 literally',
  },
  {
    id: 'CAP-11',
    fact: 'first compressor',
    client: 'Siso',
    accepts: isText('none', 'ZSTD', 'DEFLATE'),
    otherwise: 'uses the first compressor of the list and does not know this one',
  },
  {
    id: 'CAP-12',
    fact: 'zstd in both lists',
    client: 'moon with compression',
    accepts: isTrue,
    otherwise: 'sends everything uncompressed: it needs ZSTD in both lists',
  },
  {
    id: 'BRB-03',
    fact: 'status present',
    client: 'Pants',
    accepts: isTrue,
    otherwise: 'treats the entry as a failure',
  },
  ...['Bazel', 'Pants', 'BuildBox', 'Buck2'].map((client) => ({
    id: 'BSW-12',
    fact: 'committed size',
    client,
    accepts: isText('size'),
    otherwise: 'fails the upload as incomplete',
  })),
  {
    id: 'CMP-04',
    fact: 'committed size of a compressed upload',
    client: 'Buck2',
    accepts: isText('compressed size', '-1'),
    otherwise: 'fails the upload: it accepts the bytes that it sent, or -1',
  },
  {
    id: 'CMP-04',
    fact: 'committed size of a compressed upload',
    client: 'Bazel',
    accepts: isText('compressed size', '-1'),
    otherwise: 'treats the upload as incomplete and starts again',
  },
  {
    id: 'BSQ-06',
    fact: 'is served',
    client: 'Bazel',
    accepts: isTrue,
    otherwise: 'works, and restarts interrupted uploads at 0',
  },
  {
    id: 'GEN-03',
    fact: 'takes a message of the batch limit',
    client: 'Buck2',
    accepts: isTrue,
    otherwise: 'cannot upload blobs above the batch limit: its chunks are of that size',
  },
  ...['Bazel', SDK_CLIENTS, 'Buck2', 'moon'].map((client) => ({
    id: 'INS-02',
    fact: 'GetActionResult of an unknown instance',
    client,
    accepts: (value: Observed) => value !== 'NOT_FOUND',
    otherwise: 'treats the wrong instance name as a cache miss, permanently',
  })),
  {
    id: 'ACU-07',
    fact: 'takes an action that is no Action',
    client: 'moon',
    accepts: isTrue,
    otherwise: 'cannot store anything: its action is the digest of a JSON manifest',
  },
  {
    id: 'ACU-09',
    fact: 'keeps node properties',
    client: 'moon',
    accepts: isTrue,
    otherwise: 'restores outputs without their time and mode',
  },
  {
    id: 'EXE-16',
    fact: 'where missing inputs are reported',
    client: 'Pants',
    accepts: isText('response'),
    otherwise: "fails: it ignores the details of a call's error",
  },
  {
    id: 'EXE-16',
    fact: 'where missing inputs are reported',
    client: 'Bazel',
    accepts: isText('response', 'call'),
    otherwise: 'fails the action',
  },
  {
    id: 'EXE-15',
    fact: 'details of missing inputs',
    client: 'Pants',
    accepts: isText('1 PreconditionFailure'),
    otherwise: 'fails: it needs exactly one detail, a PreconditionFailure',
  },
  {
    id: 'EXE-15',
    fact: 'all violations are MISSING',
    client: 'Bazel',
    accepts: isTrue,
    otherwise: 'does not upload the missing blobs again, and fails the action',
  },
  {
    id: 'EXE-13',
    fact: 'segments of a subject',
    client: 'Pants',
    accepts: (value) => value === 3,
    otherwise: 'fails: it reads blobs/{hash}/{size} only',
  },
  {
    id: 'EXE-27',
    fact: 'message of a timeout',
    client: 'Siso',
    accepts: isText('execution timeout exceeded'),
    otherwise: 'runs the action again without end: it stops at this exact text only',
  },
  {
    id: 'EXE-27',
    fact: 'message of a timeout',
    client: 'Buck2',
    accepts: (value) => String(value).includes('Execution timed out'),
    otherwise: 'reports an error in place of a timeout: it looks for "Execution timed out"',
  },
  ...['Bazel', 'Pants', SDK_CLIENTS].map((client) => ({
    id: 'EXE-27',
    fact: 'message of a timeout',
    client,
    accepts: () => true,
    otherwise: '',
  })),
  {
    id: 'EXE-46',
    fact: 'execution_metadata set',
    client: 'Buck2',
    accepts: isTrue,
    otherwise: 'fails the action with an error',
  },
  ...['Buck2', 'Pants'].map((client) => ({
    id: 'OUT-14',
    fact: 'every output has its digest',
    client,
    accepts: isTrue,
    otherwise: 'fails the action with an error',
  })),
  {
    id: 'OUT-09',
    fact: 'fills output_symlinks for legacy commands',
    client: 'Buck2',
    accepts: isTrue,
    otherwise: 'does not see the symlink: it reads output_symlinks only',
  },
  {
    id: 'OUT-09',
    fact: 'fills the legacy lists for legacy commands',
    client: 'Bazel up to 6',
    accepts: isTrue,
    otherwise: 'does not see the symlink: it reads the legacy lists',
  },
  {
    id: 'ACG-08',
    fact: 'inlines stdout',
    client: 'recc',
    accepts: isTrue,
    otherwise: 'works, and reads stdout by another call',
  },
  ...['Pants', 'recc', 'BuildStream'].map((client) => ({
    id: 'OPS-02',
    fact: 'cancels',
    client,
    accepts: isTrue,
    otherwise: 'works, and leaves the action running when interrupted',
  })),
  {
    id: 'WAI-03',
    fact: 'finished operations stay',
    client: 'Please',
    accepts: isTrue,
    otherwise: 'falls back to the action cache',
  },
  {
    id: 'WAI-03',
    fact: 'finished operations stay',
    client: 'Bazel',
    accepts: isTrue,
    otherwise: 'executes again after its stream broke',
  },
]

/** How clients react to the facts that a check measured. */
export const readingsOf = (id: string, observations: Readonly<Record<string, Observed>>): Reading[] =>
  profiles.flatMap((profile) => {
    const value = observations[profile.fact]
    if (profile.id !== id || value === undefined) return []
    const accepts = profile.accepts(value)
    return [
      { client: profile.client, fact: profile.fact, value, accepts, consequence: accepts ? '' : profile.otherwise },
    ]
  })

export const profiledClients: readonly string[] = [...new Set(profiles.map(({ client }) => client))].sort()

/** Every row that clients read differently, with those clients. */
export const clientsOf = (
  id: string,
): { readonly client: string; readonly fact: string; readonly otherwise: string }[] =>
  profiles.filter((profile) => profile.id === id).map(({ client, fact, otherwise }) => ({ client, fact, otherwise }))
