// The arrows between the rooms of src/ point down this list only; docs/architecture.md says what each room is for.
const mayImport = {
  base: [],
  config: ['base'],
  proto: ['base'],
  reapi: ['base', 'proto'],
  stream: ['base', 'reapi'],
  tls: ['base', 'config'],
  security: ['reapi', 'proto', 'base', 'config'],
  store: ['tls', 'stream', 'reapi', 'proto', 'base', 'config'],
  scheduler: ['store/remote', 'store/grpc/channels', 'store/grpc/failure', 'tls', 'reapi', 'proto', 'base', 'config'],
  worker: [
    'store/store',
    'store/view/apart',
    'store/local-file',
    'store/content',
    'tls',
    'stream',
    'reapi',
    'proto',
    'base',
    'config',
  ],
  service: [
    'store/store',
    'store/view/apart',
    'store/content',
    'scheduler/scheduler',
    'stream',
    'reapi',
    'proto',
    'base',
  ],
  server: ['base', 'proto'],
  health: ['base'],
  admin: ['scheduler/scheduler', 'base'],
  metrics: ['base', 'proto'],
  otlp: ['tls', 'metrics', 'base'],
  'status-page': ['metrics', 'health', 'base', 'config'],
}

const roomRules = Object.entries(mayImport).map(([room, allowed]) => ({
  name: `${room}-arrows-point-down`,
  severity: 'error',
  from: { path: `^src/${room}/` },
  to: {
    path: '^src/',
    pathNot: [`^src/${room}/`, ...allowed.map((target) => `^src/${target}(/|\\.ts$)`)],
  },
}))

/** Each dependency is imported by the rooms named here and by no other. */
const importedBy = {
  '@grpc/grpc-js': ['server/', 'worker/connection', 'store/grpc/', 'otlp/tls'],
  '@grpc/reflection': ['server/'],
  protobufjs: ['proto/'],
  json5: ['config/read/'],
  '@humanwhocodes/momoa': ['config/read/'],
  'fastest-levenshtein': ['config/'],
  ajv: ['config/'],
  koffi: ['worker/command/', 'stream/compression/'],
  'lz4-napi': ['store/compression/'],
  'hash-wasm': ['reapi/'],
  shlex: ['worker/'],
  pino: ['json-log'],
  jose: ['security/identity/jwt'],
  bcryptjs: ['security/identity/bcrypt-process'],
  // Clients of backends: peers that need not be there, each loaded by one file (src/store/remote/optional-package.ts).
  '@azure/storage-blob': ['store/experimental-cloud-object-store/azure'],
  '@azure/identity': ['store/experimental-cloud-object-store/azure'],
  '@aws-sdk/client-s3': ['store/objects/s3'],
  '@google-cloud/storage': ['store/experimental-cloud-object-store/gcs'],
  '@redis/client': ['store/redis-store/connections'],
  mongodb: ['store/experimental-mongo/'],
  '@opentelemetry/api': ['otlp/'],
  '@opentelemetry/core': ['otlp/'],
  '@opentelemetry/resources': ['otlp/'],
  '@opentelemetry/sdk-metrics': ['otlp/'],
  '@opentelemetry/exporter-metrics-otlp-grpc': ['otlp/'],
  '@opentelemetry/exporter-metrics-otlp-proto': ['otlp/'],
  '@opentelemetry/sdk-trace-base': ['otlp/'],
  '@opentelemetry/exporter-trace-otlp-grpc': ['otlp/'],
  '@opentelemetry/exporter-trace-otlp-proto': ['otlp/'],
}

const packageRules = Object.entries(importedBy).map(([name, rooms]) => ({
  name: `${name.replace(/\W/g, '-')}-has-one-room`,
  severity: 'error',
  from: { path: '^src/', pathNot: rooms.map((room) => `^src/${room}`) },
  to: { path: `(^|/)node_modules/${name}(/|$)` },
}))

/** Rooms of src/store/ that any kind may use; each other one is the parts of the one kind that is named like it. */
const sharedByKinds = ['kind', 'view', 'index', 'content', 'remote', 'objects', 'existence']

const storeRules = [
  {
    name: 'only-the-list-knows-the-kinds',
    comment: 'a kind gets its backends from the builder; what two kinds need is in a room they share',
    severity: 'error',
    from: { path: '^src/store/', pathNot: '^src/store/kinds\\.ts$' },
    to: { path: '^src/store/kind/' },
  },
  {
    name: 'parts-belong-to-one-kind',
    severity: 'error',
    from: { path: '^src/store/(?:kind/)?([^/]+?)(?:\\.ts$|/)' },
    to: { path: '^src/store/[^/]+/', pathNot: ['^src/store/$1/', `^src/store/(${sharedByKinds.join('|')})/`] },
  },
]

const judgeDependencies = Object.keys(require('./conformance/package.json').dependencies)

module.exports = {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'src-stands-alone',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^(conformance|bench|test)/' },
    },
    {
      name: 'judge-and-bench-stand-apart',
      severity: 'error',
      from: { path: '^conformance/' },
      to: { path: '^(bench|test)/' },
    },
    {
      name: 'judge-shares-no-mistake-with-src',
      comment: 'the generated messages are all it takes from the server',
      severity: 'error',
      from: { path: '^conformance/' },
      to: { path: '^src/', pathNot: '^src/proto/generated/' },
    },
    {
      name: 'judge-needs-what-its-package-names',
      comment: 'conformance/package.json: who installs it gets no server',
      severity: 'error',
      from: { path: '^conformance/' },
      to: {
        path: 'node_modules/',
        pathNot: `node_modules/(@types/node|${judgeDependencies.join('|')})(/|$)`,
      },
    },
    ...roomRules,
    ...storeRules,
    ...packageRules,
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^conformance/dist/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
  },
}
