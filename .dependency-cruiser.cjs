/** The rooms that most others stand on. */
const common = ['work', 'rpc', 'ledger', 'log', 'base']

// The arrows between the rooms of src/ point down this list only; docs/architecture.md says what each room is for.
const mayImport = {
  base: [],
  log: ['base'],
  ledger: ['base'],
  rpc: ['ledger', 'log', 'base'],
  work: ['rpc', 'log', 'base'],
  files: ['log', 'base'],
  process: ['log', 'base'],
  config: ['files', 'log', 'base'],
  proto: ['base'],
  reapi: ['proto', 'base'],
  stream: ['reapi', 'work', 'rpc', 'base'],
  tls: ['config', 'files', 'work', 'log', 'base'],
  security: ['config', 'reapi', 'proto', 'files', 'work', 'rpc', 'log', 'base'],
  content: ['store/contract', 'stream', 'reapi', 'proto', ...common],
  store: ['content', 'tls', 'config', 'stream', 'reapi', 'proto', 'files', ...common],
  doctor: ['store/builder', 'store/contract', 'config', ...common],
  adopt: [
    'store/contract',
    'store/kinds/completeness_checking/first-missing',
    'content',
    'stream',
    'reapi',
    'proto',
    ...common,
  ],
  scheduler: [
    'store/remote',
    'store/kinds/grpc/channels',
    'store/kinds/grpc/failure',
    'tls',
    'config',
    'reapi',
    'proto',
    ...common,
  ],
  worker: [
    'store/contract',
    'store/view/isolated',
    'store/lent',
    'content',
    'tls',
    'config',
    'stream',
    'reapi',
    'proto',
    'files',
    ...common,
  ],
  service: [
    'store/contract',
    'store/view/isolated',
    'store/lent',
    'content',
    'scheduler/scheduler',
    'stream',
    'reapi',
    'proto',
    ...common,
  ],
  server: ['proto', ...common],
  health: ['work', 'log', 'base'],
  admin: ['scheduler/scheduler', 'log', 'base'],
  metrics: ['store/contract/meter', 'proto', 'ledger', 'base'],
  otlp: ['metrics', 'tls', 'files', 'work', 'rpc', 'log', 'base'],
  command: [
    'adopt',
    'doctor',
    'store/kinds/filesystem/check-folder',
    'assembly',
    'otlp',
    'security',
    'config',
    'process',
    'work',
    'rpc',
    'log',
    'base',
  ],
  'status-page': ['scheduler/scheduler', 'metrics', 'health', 'config', 'log', 'base'],
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
  '@grpc/grpc-js': ['server/', 'worker/connection', 'store/kinds/grpc/', 'otlp/tls'],
  '@grpc/reflection': ['server/'],
  protobufjs: ['proto/'],
  json5: ['config/read/'],
  '@humanwhocodes/momoa': ['config/read/'],
  'fastest-levenshtein': ['config/'],
  ajv: ['config/'],
  koffi: ['worker/command/', 'stream/compression/'],
  'lz4-napi': ['store/kinds/compression/'],
  'hash-wasm': ['reapi/'],
  shlex: ['worker/'],
  pino: ['process/json-log'],
  jose: ['security/identity/jwt'],
  bcryptjs: ['security/identity/bcrypt-process'],
  // Clients of backends: peers that need not be there, each loaded by one file (src/store/remote/optional-package.ts).
  '@azure/storage-blob': ['store/kinds/experimental_cloud_object_store/azure'],
  '@azure/identity': ['store/kinds/experimental_cloud_object_store/azure'],
  '@aws-sdk/client-s3': ['store/objects/s3'],
  '@google-cloud/storage': ['store/kinds/experimental_cloud_object_store/gcs'],
  '@redis/client': ['store/kinds/redis_store/connections'],
  mongodb: ['store/kinds/experimental_mongo/'],
  '@opentelemetry/api': ['otlp/'],
  '@opentelemetry/core': ['otlp/'],
  '@opentelemetry/resources': ['otlp/'],
  '@opentelemetry/sdk-metrics': ['otlp/'],
  '@opentelemetry/exporter-metrics-otlp-grpc': ['otlp/'],
  '@opentelemetry/exporter-metrics-otlp-proto': ['otlp/'],
  '@opentelemetry/exporter-prometheus': ['otlp/'],
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

const storeRules = [
  {
    name: 'only-the-list-knows-the-kinds',
    comment: 'a kind gets its backends from the builder; what two kinds need is in a room beside store/kinds/',
    severity: 'error',
    from: { path: '^src/', pathNot: '^src/store/kinds/kinds\\.ts$' },
    to: { path: '^src/store/kinds/[^/]+/kind\\.ts$' },
  },
  {
    name: 'parts-belong-to-one-kind',
    severity: 'error',
    from: { path: '^src/store/(?:kinds/([^/]+)/|.*)', pathNot: '^src/store/kinds/kinds\\.ts$' },
    to: { path: '^src/store/kinds/[^/]+/', pathNot: '^src/store/kinds/$1/' },
  },
  {
    name: 'the-contract-knows-no-store',
    severity: 'error',
    from: { path: '^src/store/contract/' },
    to: { path: '^src/store/', pathNot: '^src/store/contract/' },
  },
  {
    name: 'content-is-below-the-stores-that-read-it',
    comment: 'content/ knows the contract of a store only',
    severity: 'error',
    from: { path: '^src/content/' },
    to: { path: '^src/store/', pathNot: '^src/store/contract/' },
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
      name: 'judge-and-bench-stand-alone',
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
