import { join } from 'node:path'

/** Stores so small that they are full within minutes: until then memory grows with what they know of their entries. */
const MAX_CAS_BYTES = 128 << 20
const MAX_AC_BYTES = 2 << 20

/** Uploads that were broken off keep their files open while they can be resumed. */
const RESUMABLE_S = 5

const filesystem = (folder: string, name: string, maxBytes: number): object => ({
  filesystem: {
    content_path: join(folder, name, 'content'),
    temp_path: join(folder, name, 'temp'),
    eviction_policy: { max_bytes: maxBytes },
  },
})

/** Every HTTP cache, by its kind. */
export const MOUNTS = {
  bazel: '/',
  ccache: '/ccache',
  webdav: '/sccache',
  turborepo: '/turbo',
  nx: '/nx',
  gradle: '/gradle',
  maven: '/maven',
  go: '/go',
  opaque: '/files',
} as const

export const PAGES = '/pages'

/** Every service of the schema, on one listener: a CAS of chunks with a worker of its own, and assets from one origin on this machine. */
export const soakConfig = (folder: string, originPort: number): object => ({
  stores: [
    {
      name: 'CAS',
      dedup: {
        chunking_function: 'fast_cdc_2020',
        content_store: filesystem(folder, 'cas', MAX_CAS_BYTES),
        index_store: filesystem(folder, 'lists', MAX_AC_BYTES),
        whole_store: filesystem(folder, 'whole', MAX_CAS_BYTES / 2),
      },
    },
    { name: 'AC', ...filesystem(folder, 'ac', MAX_AC_BYTES) },
  ],
  schedulers: [{ name: 'MAIN', simple: {} }],
  workers: [
    {
      local: {
        worker_api_endpoint: { uri: 'grpc://127.0.0.1:0' },
        cas_fast_slow_store: 'CAS',
        upload_action_result: { ac_store: 'AC' },
        work_directory: join(folder, 'work'),
        platform_properties: {},
      },
    },
  ],
  servers: [
    {
      name: 'public',
      listener: { http: { socket_address: '127.0.0.1:0' } },
      services: {
        cas: [{ instance_name: '', cas_store: 'CAS' }],
        ac: [{ instance_name: '', ac_store: 'AC' }],
        execution: [{ instance_name: '', cas_store: 'CAS', scheduler: 'MAIN' }],
        bytestream: [{ instance_name: '', cas_store: 'CAS', persist_stream_on_disconnect_timeout_s: RESUMABLE_S }],
        fetch: [
          {
            instance_name: '',
            fetch_store: 'AC',
            download: { allow: ['127.0.0.1'], allow_addresses: ['127.0.0.1'], ports: [originPort], idle_timeout_s: 10 },
          },
        ],
        push: [{ instance_name: '', push_store: 'AC' }],
        // So few builds that the folder is full within minutes.
        build_events: { path: join(folder, 'events'), max_invocations: 200, max_bytes: '50mb' },
        pages: { path: PAGES },
        http_cache: Object.fromEntries(
          Object.entries(MOUNTS).map(([kind, path]) => [path, { kind, instance_name: '' }]),
        ),
        health: { path: '/status' },
        metrics: { path: '/metrics' },
      },
    },
  ],
})
