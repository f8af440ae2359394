// Written by scripts/generate-config.mjs from schema/: change the schema and run npm run generate.

/** The options of every store kind whose code is there, by the key it has in the configuration. */
export interface StoreOptions {
  readonly memory: MemoryOptions
  readonly filesystem: FilesystemOptions
  readonly fast_slow: FastSlowOptions
  readonly compression: CompressionOptions
  readonly dedup: DedupOptions
  readonly verify: VerifyOptions
  readonly existence_cache: ExistenceCacheOptions
  readonly completeness_checking: CompletenessCheckingOptions
  readonly size_partitioning: SizePartitioningOptions
  readonly shard: ShardOptions
  readonly ref_store: RefStoreOptions
  readonly noop: NoopOptions
  readonly grpc: GrpcOptions
  readonly redis_store: RedisStoreOptions
  readonly experimental_mongo: ExperimentalMongoOptions
  readonly experimental_cloud_object_store: ExperimentalCloudObjectStoreOptions
  readonly ontap_s3_existence_cache: OntapS3ExistenceCacheOptions
  readonly cache_metrics: CacheMetricsOptions
}

export type StoreKind = keyof StoreOptions

/** A store of one kind; `kind` tells which options these are. */
export type StoreConfig = {
  [Kind in StoreKind]: { readonly kind: Kind; readonly options: StoreOptions[Kind] }
}[StoreKind]

/** The options of every scheduler kind whose code is there, by the key it has in the configuration. */
export interface SchedulerOptions {
  readonly simple: SimpleSchedulerOptions
  readonly grpc: GrpcSchedulerOptions
  readonly cache_lookup: CacheLookupSchedulerOptions
  readonly property_modifier: PropertyModifierSchedulerOptions
  readonly historical_resource: HistoricalResourceSchedulerOptions
}

export type SchedulerKind = keyof SchedulerOptions

/** A scheduler of one kind; `kind` tells which options these are. */
export type SchedulerConfig = {
  [Kind in SchedulerKind]: { readonly kind: Kind; readonly options: SchedulerOptions[Kind] }
}[SchedulerKind]

/** The options of every worker kind whose code is there, by the key it has in the configuration. */
export interface WorkerOptions {
  readonly local: LocalWorkerOptions
}

export type WorkerKind = keyof WorkerOptions

/** A worker of one kind; `kind` tells which options these are. */
export type WorkerConfig = {
  [Kind in WorkerKind]: { readonly kind: Kind; readonly options: WorkerOptions[Kind] }
}[WorkerKind]

/**
 * Keeps blobs in the memory of the process; gone after a restart. For small caches and tests: always give it `max_bytes`.
 */
export interface MemoryOptions {
  /**
   * When entries are evicted; without it nothing is.
   */
  readonly eviction_policy: EvictionPolicy
  /**
   * How long a blob is kept at least after it was uploaded, read, found by FindMissingBlobs, or named by a served action cache hit. Clients that build without the bytes rely on it: Bazel assumes 3 hours (`--experimental_remote_cache_ttl`). A build that is alive keeps what it used for longer. The promise is broken only if there is no room, see `when_full`; metrics and the log then say so. `max_seconds` of the eviction policy, if it is shorter, limits it. 0 promises nothing.
   */
  readonly retention: number
  /**
   * What happens when an upload needs room and everything is promised (`retention`). `break`: the oldest promise is broken and its blob evicted; a promise to a build that is alive goes last. `refuse`: uploads that would promise more than 80 % of `max_bytes` fail with RESOURCE_EXHAUSTED, so that every hit stays true. Take `refuse` if lost inputs cost more than actions that are not cached; not with workers, whose results would be refused too.
   */
  readonly when_full: 'break' | 'refuse'
}

/**
 * When a store evicts entries. The least recently used go first; without any limit nothing is ever evicted.
 */
export interface EvictionPolicy {
  /**
   * Most bytes the store keeps; 0 means no limit. In a `memory` or `filesystem` store all uploads in flight together may hold a third more than that beside them.
   */
  readonly max_bytes: number
  /**
   * Above `max_bytes`, eviction continues until this many bytes below it are free, so that not every later write has to evict.
   */
  readonly evict_bytes: number
  /**
   * Entries that were not used for this many seconds are evicted; 0 keeps them.
   */
  readonly max_seconds: number
  /**
   * Most entries the store keeps; 0 means no limit.
   */
  readonly max_count: number
}

/**
 * Keeps large blobs as files and small ones together in a log. Entries and their recency survive a restart. Use it for everything larger than memory; workers can link inputs only from this store.
 */
export interface FilesystemOptions {
  /**
   * Directory of the stored blobs. No other store and no work directory may share it.
   */
  readonly content_path: string
  /**
   * Directory for blobs being written; emptied at start. Must be on the same file system as `content_path`, because a finished blob is moved there.
   */
  readonly temp_path: string
  /**
   * Initial bytes per read of a file that passes checks, compression or another store; a reader that keeps up gets up to 256 KiB. A file sent without change is read by 64 to 256 KiB, depending on the client's free window.
   */
  readonly read_buffer_size: number
  /**
   * When entries are evicted; without it nothing is.
   */
  readonly eviction_policy: EvictionPolicy
  /**
   * How long a blob is kept at least after it was uploaded, read, found by FindMissingBlobs, or named by a served action cache hit. Clients that build without the bytes rely on it: Bazel assumes 3 hours (`--experimental_remote_cache_ttl`). A build that is alive keeps what it used for longer. The promise is broken only if there is no room, see `when_full`; metrics and the log then say so. `max_seconds` of the eviction policy, if it is shorter, limits it. 0 promises nothing.
   */
  readonly retention: number
  /**
   * What happens when an upload needs room and everything is promised (`retention`). `break`: the oldest promise is broken and its blob evicted; a promise to a build that is alive goes last. `refuse`: uploads that would promise more than 80 % of `max_bytes` fail with RESOURCE_EXHAUSTED, so that every hit stays true. Take `refuse` if lost inputs cost more than actions that are not cached; not with workers, whose results would be refused too.
   */
  readonly when_full: 'break' | 'refuse'
  /**
   * A file counts as its size rounded up to this many bytes, its size on disk. A small blob counts as its record plus a third, for space that is not reclaimed yet.
   */
  readonly block_size: number
  /**
   * Most file writes in flight; further ones wait. 0 means no limit. An upload that waits for its client does not count.
   */
  readonly max_concurrent_writes: number
  /**
   * Which failures an acknowledged upload survives. `process_exit`: any crash of the server, including kill -9. A power loss may lose the last seconds of uploads; a truncated file is detected and counts as a miss. `power_loss`: that as well, because file and folder are synced to the disk before an upload is acknowledged.
   */
  readonly durability: 'process_exit' | 'power_loss'
  /**
   * Blobs of up to this many bytes are kept together in a log, larger ones as one file each. Writing a file costs several times as much, but a worker links to a file instead of copying it. 0 keeps every blob as a file; at most 1 MiB.
   */
  readonly small_blob_size: number
  /**
   * Memory for recently read blobs of up to 16 KiB, above all actions and their results. 0 keeps none.
   */
  readonly small_blob_cache_size: number
  /**
   * Bytes per second that the store reads again in the background and compares with their checksums, and with their digests where the key of a blob is the hash of its content. A damaged blob is logged and is a miss until it is uploaded again. 0 turns this off; damage is then found at the first read after a start, for small blobs at every read.
   */
  readonly scrub_bytes_per_s: number
}

/**
 * Two tiers: a quick store in front of the authoritative one. Uploads go to both, and reads fill the fast store. The slow store decides whether a blob exists, unless it is `noop`. Blobs that the fast store serves count as used in the slow store: it hears of each in the background, at most once in five minutes. If the fast store fails, the rest of the blob comes from the slow one, and the read succeeds. Damage in a large file, e.g. by the disk, can show only at its end: the reader then gets DATA_LOSS once instead of the whole blob, the copy is dropped, and the next reader gets it from the slow store. Small blobs are verified before any byte is sent.
 */
export interface FastSlowOptions {
  /**
   * The quick store in front, which may lose entries.
   */
  readonly fast: StoreConfig
  /**
   * The authoritative store; `noop` for none.
   */
  readonly slow: StoreConfig
  /**
   * Content written to the fast store: `both` uploads and fills from reads, `update` uploads only, `get` fills from reads only, `read_only` nothing.
   */
  readonly fast_direction: 'both' | 'update' | 'get' | 'read_only'
  /**
   * Content written to the slow store: `both` uploads and fills from reads, `update` uploads only, `get` fills from reads only, `read_only` nothing.
   */
  readonly slow_direction: 'both' | 'update' | 'get' | 'read_only'
  /**
   * How long an action result in the fast store is served without asking the slow store again. Set this where several servers share the slow store: a result that another server replaced or removed there is noticed after this time at the latest. While the slow store fails, the fast one is served. 0 never asks again, which is right where the slow store belongs to this server alone. Blobs of a CAS never change and need no time.
   */
  readonly action_result_max_age_s: number
  /**
   * What happens while the slow store does not work (refuses connections, times out, rejects credentials). `fail`: lookups, reads and uploads fail with UNAVAILABLE. `serve_fast`: the fast store answers alone. FindMissing reports as missing what fast lacks, so that clients upload it again; reads, action results and inputs of actions that fast lacks are absent (NOT_FOUND), so that clients build or upload them again. Uploads still wait for the slow store unless `acknowledge` is `fast`. The risk: a blob that the slow store lost counts as present until it works again, and what only the slow store has is built again. Health is a Warning meanwhile, so the server stays in service; write the slow store here and not as a `ref_store`, whose own health would still count.
   */
  readonly when_slow_is_away: 'fail' | 'serve_fast'
  /**
   * Which store must have an upload before it is acknowledged. `slow`: the slow one, so that an acknowledged blob is in both. `fast`: the fast one, which must be a `filesystem`; the upload to the slow store follows behind the answer, from a queue in the folder of the fast store that survives kill -9 and is worked off at the next start (`upload_queue`). Action results reach the slow store after the blobs that were uploaded here before them. The risk: until then the only copy is on this machine, and other servers over the same slow store do not see it; who loses the disk loses what waits. So keep the clients of one build on one server, and take it only with `when_slow_is_away: "serve_fast"`. If it is set back to `slow`, the rest of the queue is still uploaded.
   */
  readonly acknowledge: 'slow' | 'fast'
  /**
   * Bounds of the uploads that wait behind `acknowledge: "fast"`. At a bound an upload waits for the slow store as without that option; if the slow store is away then, it fails with RESOURCE_EXHAUSTED.
   */
  readonly upload_queue: UploadQueue
  /**
   * Blobs of at least this size are read directly from the slow store and do not fill the fast one; 0 turns this off.
   */
  readonly bypass_dedup_threshold_bytes: number
}

/**
 * Bounds of the uploads that wait for a slow store.
 */
export interface UploadQueue {
  /**
   * Bytes that may wait. They are held in the fast store, which evicts none of them. 0 takes half of the `max_bytes` of the fast store, and 10 GiB if that has no limit.
   */
  readonly max_bytes: number
  /**
   * Blobs that may wait; each takes about 500 bytes of memory.
   */
  readonly max_count: number
  /**
   * Uploads to the slow store at a time.
   */
  readonly max_concurrent: number
}

/**
 * Compresses blobs on the way into its backend. Costs CPU, saves disk or network; other tools cannot read the stored form. Blobs written with one algorithm stay readable when the configuration names another.
 */
export interface CompressionOptions {
  /**
   * Where the compressed blobs are kept.
   */
  readonly backend: StoreConfig
  /**
   * The algorithm and its settings, as an object with exactly one key.
   */
  readonly compression_algorithm: {readonly lz4: Lz4} | {readonly zstd: Zstd}
}

/**
 * LZ4 in independent blocks, so that a range is read without decoding what precedes it.
 */
export interface Lz4 {
  /**
   * Uncompressed bytes in a block.
   */
  readonly block_size: number
  /**
   * Largest block accepted when reading; 0 means `block_size`. Raise it when blobs were written with larger blocks.
   */
  readonly max_decode_block_size: number
}

/**
 * Zstandard in independent frames. A client that reads or uploads zstd (`compressed-blobs/zstd`) exchanges the stored bytes, so nothing is compressed twice. This also works through `verify`, and through `fast_slow` if the slow store compresses this way, or the fast one over `noop`.
 */
export interface Zstd {
  /**
   * Uncompressed bytes in a frame: a range of a blob is read without decoding the frames before it.
   */
  readonly block_size: number
  /**
   * Compression level, from 1 (quickest) to 19.
   */
  readonly level: number
  /**
   * Largest frame of a compressed upload, in uncompressed bytes, that is stored as the client made it. This saves compressing the blob again, but reading a range then decodes up to this many bytes before it. 0 always compresses again, in frames of `block_size`.
   */
  readonly max_uploaded_frame_size: number
}

/**
 * Cuts blobs into content-defined chunks (FastCDC), so that common parts of similar blobs are stored once. A blob exists while all its chunks do. For large blobs that change little by little. A blob that is no larger than the largest chunk is one entry of `content_store`. With `chunking_function` it is cut as REAPI clients do, and SplitBlob and SpliceBlob of its instances use its lists and chunks as they are, without `experimental_chunking`. Instances with `isolate` have chunks of their own.
 */
export interface DedupOptions {
  /**
   * Keeps the chunk list of each blob, under the digest of the blob. It must differ from `content_store`.
   */
  readonly index_store: StoreConfig
  /**
   * Keeps the chunks, under their own digests.
   */
  readonly content_store: StoreConfig
  /**
   * Keeps copies of larger blobs as files while actions use them, within its `eviction_policy`: a `filesystem` on the file system of `content_store`. Needed if this is the store of a worker, which links its inputs. Blobs that are no larger than a chunk are linked from `content_store`, which has to be a `filesystem` then.
   */
  readonly whole_store?: StoreConfig
  /**
   * Cut blobs by one of REAPI's functions, with its sizes instead of `min_size`, `normal_size` and `max_size`: `fast_cdc_2020`, which all clients have that chunk at all, or `rep_max_cdc`, whose chunks differ less in size and which Bazel has from 9.3 on. After a change of function or sizes existing blobs stay readable; new blobs share fewer chunks with them.
   */
  readonly chunking_function?: 'fast_cdc_2020' | 'rep_max_cdc'
  /**
   * Target chunk size of `fast_cdc_2020`, from 1 KiB to 1 MiB. Chunks have a quarter of it to four times as much.
   */
  readonly avg_chunk_size_bytes: number
  /**
   * Smallest chunk of `rep_max_cdc`, from 1 KiB to 1 MiB. Chunks have less than twice that.
   */
  readonly min_chunk_size_bytes: number
  /**
   * How far `rep_max_cdc` looks for the best end of a chunk, at most 16 MiB. Default: eight times `min_chunk_size_bytes`.
   */
  readonly horizon_size_bytes?: number
  /**
   * Smallest chunk, except the last of a blob; at least 64 bytes, and at most `normal_size`.
   */
  readonly min_size: number
  /**
   * Target chunk size, from 256 bytes to 8 MiB. After a change of sizes existing blobs stay readable; new blobs share fewer chunks with them.
   */
  readonly normal_size: number
  /**
   * Largest chunk; at least `normal_size`, and at most 32 MiB. Each is held in memory as a whole.
   */
  readonly max_size: number
  /**
   * Chunks opened ahead while a blob is read, with at most 4 MiB together. More than 2 helps if `content_store` is on another machine.
   */
  readonly max_concurrent_fetch_per_get: number
}

/**
 * Checks blobs that are read from a backend against their digest, since the backend may be damaged. Uploads from clients are always checked, with or without this store.
 */
export interface VerifyOptions {
  /**
   * The store whose blobs are checked.
   */
  readonly backend: StoreConfig
  /**
   * Check the length.
   */
  readonly verify_size: boolean
  /**
   * Check the hash.
   */
  readonly verify_hash: boolean
}

/**
 * Remembers which blobs the backend has, and asks it only for the others. For a backend with slow lookups. A blob that turns out to be missing when it is read or removed through this store is forgotten at once.
 */
export interface ExistenceCacheOptions {
  /**
   * The backend.
   */
  readonly backend: StoreConfig
  /**
   * When the backend is asked again. The oldest answers are forgotten first.
   */
  readonly eviction_policy: ExistencePolicy
}

/**
 * When the backend is asked again. The oldest answers are forgotten first.
 */
export interface ExistencePolicy {
  /**
   * Most bytes that all remembered blobs may have together; 0 means no limit.
   */
  readonly max_bytes: number
  /**
   * Above `max_bytes`, entries are forgotten until this many bytes below it.
   */
  readonly evict_bytes: number
  /**
   * How long an answer of the backend is valid, counted from the answer, not from the last use. The cache does not see evictions of the backend or deletions by other processes. For this long it may report a blob that is gone. At most half the `retention` of the backend, if that has one.
   */
  readonly max_seconds: number
  /**
   * Most blobs remembered, at about 80 bytes of memory each.
   */
  readonly max_count: number
}

/**
 * An action cache that returns a result only while all its outputs are in the CAS. The ActionCache service checks this itself, with the CAS of its instance, if its action cache is not of this kind. Configure it if stores of other instances or a worker read the same entries.
 */
export interface CompletenessCheckingOptions {
  /**
   * The action cache itself.
   */
  readonly backend: StoreConfig
  /**
   * The CAS that must hold the outputs, as a rule a `ref_store`.
   */
  readonly cas_store: StoreConfig
}

/**
 * Sends small and large blobs to different stores.
 */
export interface SizePartitioningOptions {
  /**
   * Blobs smaller than this go to `lower_store`, the others to `upper_store`.
   */
  readonly size: number
  /**
   * For the small blobs.
   */
  readonly lower_store: StoreConfig
  /**
   * For the large blobs.
   */
  readonly upper_store: StoreConfig
}

/**
 * Spreads blobs over several stores by digest and weight. Append new stores to the list: a new store takes its share from the others, and nothing moves between those. A blob that moved is a miss once.
 */
export interface ShardOptions {
  /**
   * The stores and their shares.
   */
  readonly stores: readonly ShardPart[]
}

/**
 * One store of a shard.
 */
export interface ShardPart {
  /**
   * Where this share is kept.
   */
  readonly store: StoreConfig
  /**
   * Share relative to the other stores. 0 removes a store from use while the positions of the others stay.
   */
  readonly weight: number
}

/**
 * Refers to another named store, so that several places share one.
 */
export interface RefStoreOptions {
  /**
   * The name of a store in `stores`; it may be defined further down.
   */
  readonly name: string
}

/**
 * Keeps nothing: uploads are discarded, reads find nothing. The slow side of a `fast_slow` without a second tier.
 */
export interface NoopOptions {}

/**
 * Another Remote Execution API server as a store: its CAS or its action cache. Nothing can be removed there: a blob that `verify` finds damaged stays until that server finds the damage itself.
 */
export interface GrpcOptions {
  /**
   * The instance name sent to it.
   */
  readonly instance_name: string
  /**
   * Its addresses. Calls use connections in turn, preferring those that are open.
   */
  readonly endpoints: readonly GrpcEndpoint[]
  /**
   * Which of its services is used. A `cas` accepts only blobs that match their digest, so neither `compression` nor the `index_store` of a `dedup` may be on top of one.
   */
  readonly store_type: 'cas' | 'ac'
  /**
   * For an `ac` that also keeps entries of HTTP caches or assets: a secret of at least 32 characters, the same in all servers that share them. There they are results like others, under digests that only this secret makes, and with a seal: without it every client that may write results there could write them too, so such a store is then refused for them. Such as `openssl rand -hex 32`.
   */
  readonly record_secret?: string
  /**
   * How failed calls are retried.
   */
  readonly retry: Retry
  /**
   * Most requests at one time, each counted until its last byte; 0 means no limit. Further ones wait.
   */
  readonly max_concurrent_requests: number
  /**
   * Connections to each address.
   */
  readonly connections_per_endpoint: number
  /**
   * Seconds that a call, or each part of a transfer, may take. 0 means no limit except the HTTP/2 pings.
   */
  readonly rpc_timeout_s: number
  /**
   * Leave the digest function out of byte stream names, for servers that do not know it. Names with SHA256 never have it.
   */
  readonly use_legacy_resource_names: boolean
  /**
   * For a `cas` over a slow link, for example behind the `fast_slow` store of a worker elsewhere: blobs larger than a chunk are cut as the server announces, only chunks that it lacks are sent, and SpliceBlob puts them together there. A server that announces no chunking function gets whole blobs.
   */
  readonly experimental_chunked_uploads: boolean
  /**
   * Metadata sent with every call.
   */
  readonly headers: ReadonlyMap<string, string>
  /**
   * Names of client metadata that is passed on with its calls. Calls of several clients are then not joined into batches.
   */
  readonly forward_headers: readonly string[]
  /**
   * How small blobs that are read or written at the same time are joined into one call. Left out: these defaults, or no batches with `forward_headers`, which excludes this key.
   */
  readonly experimental_read_batching?: ReadBatching
  /**
   * Transfer larger blobs compressed with zstd if the other server announces it.
   */
  readonly experimental_remote_cache_compression: boolean
}

/**
 * One address of a remote gRPC server and how to connect to it.
 */
export interface GrpcEndpoint {
  /**
   * `grpc://host:port` or `http://host:port` without TLS, `grpcs://` or `https://` with it.
   */
  readonly address: string
  /**
   * Needed with a TLS scheme, rejected with a plain one.
   */
  readonly tls_config?: ClientTls
  /**
   * Most requests at one time on the connection; 0 means no limit.
   */
  readonly concurrency_limit: number
  /**
   * Seconds a call waits for a connection that is being made.
   */
  readonly connect_timeout_s: number
  /**
   * Seconds between HTTP/2 pings while calls are in flight.
   */
  readonly http2_keepalive_interval_s: number
  /**
   * Seconds a ping may stay unanswered before the connection counts as lost.
   */
  readonly http2_keepalive_timeout_s: number
}

/**
 * TLS of an outgoing connection.
 */
export interface ClientTls {
  /**
   * PEM file with the authorities to trust; needed unless `use_native_roots` is set.
   */
  readonly ca_file?: string
  /**
   * PEM certificate that this process presents; goes with `key_file`.
   */
  readonly cert_file?: string
  /**
   * PEM key of `cert_file`.
   */
  readonly key_file?: string
  /**
   * The name in the peer's certificate, if it differs from the host of the address.
   */
  readonly server_name?: string
  /**
   * Trust the authorities of this machine.
   */
  readonly use_native_roots: boolean
}

/**
 * How a failed call to a remote backend is retried. In addition, a call whose connection broke before any answer is repeated once at once, because backends close idle connections at the moment of reuse.
 */
export interface Retry {
  /**
   * Further attempts after the first one.
   */
  readonly max_retries: number
  /**
   * Base of the waiting time in seconds; the first wait is twice this and every later one doubles.
   */
  readonly delay: number
  /**
   * Fraction of each wait that is random: 0.5 spreads it from 75 % to 125 %.
   */
  readonly jitter: number
  /**
   * Seconds after the first attempt in which further attempts may begin; 0 means no limit.
   */
  readonly budget_s: number
  /**
   * Status names that are retried. Left out: Unknown, Cancelled, DeadlineExceeded, ResourceExhausted, Aborted, Internal, Unavailable and DataLoss.
   */
  readonly retry_on_errors?: readonly (
    | 'Cancelled'
    | 'Unknown'
    | 'InvalidArgument'
    | 'DeadlineExceeded'
    | 'NotFound'
    | 'AlreadyExists'
    | 'PermissionDenied'
    | 'ResourceExhausted'
    | 'FailedPrecondition'
    | 'Aborted'
    | 'OutOfRange'
    | 'Unimplemented'
    | 'Internal'
    | 'Unavailable'
    | 'DataLoss'
    | 'Unauthenticated'
  )[]
}

/**
 * How small blobs that are read or written at the same time are joined into one call. Left out: these defaults, or no batches with `forward_headers`, which excludes this key.
 */
export interface ReadBatching {
  /**
   * Largest blob that is batched; 0 batches none.
   */
  readonly max_blob_size_bytes: number
  /**
   * Largest batch; never more than the other server announces.
   */
  readonly max_batch_bytes: number
  /**
   * Batches in flight, of reads and of writes each. Requests that arrive meanwhile form the next ones.
   */
  readonly dispatch_slots: number
  /**
   * Most bytes waiting to be batched; blobs beyond that are transferred one by one.
   */
  readonly max_queued_bytes: number
}

/**
 * Keeps blobs in Redis, or a compatible server, for machines that share a cache, above all action results and small blobs. When its memory is full, Redis evicts by its own policy (`maxmemory-policy`).
 */
export interface RedisStoreOptions {
  /**
   * `redis://[username:password@]host[:port][/database]`, or `rediss://` for TLS. Give exactly one address, or for `cluster` some of its nodes. For `sentinel` give some of the sentinels: `redis+sentinel://host[:port][/database]?sentinelServiceName=name`. The name defaults to `master`; `sentinelUsername` and `sentinelPassword` are for the sentinels, the credentials before `@` for the servers.
   */
  readonly addresses: readonly string[]
  /**
   * How the servers are organised: one server, a server and its replicas watched by sentinels, or a cluster.
   */
  readonly mode: 'standard' | 'sentinel' | 'cluster'
  /**
   * Prefix of every key. Stores that share a Redis need different prefixes, above all an action cache and a CAS. With a hash tag in it (`{builds}:`) a cluster keeps everything on one node.
   */
  readonly key_prefix: string
  /**
   * Milliseconds a command may take. A server that is silent for this long counts as lost and is connected again.
   */
  readonly command_timeout_ms: number
  /**
   * Milliseconds an attempt to connect may take. The start waits this long once; after that the server runs without its Redis until it answers.
   */
  readonly connection_timeout_ms: number
  /**
   * Milliseconds a health probe may take.
   */
  readonly health_check_timeout_ms: number
  /**
   * Blobs of up to this many bytes are one string in Redis. Larger ones are a hash with chunks of this size, a few of which are read and written at a time. Blobs written with another size stay readable.
   */
  readonly read_chunk_size: number
  /**
   * Open connections, in a cluster to each of its nodes. Commands share them.
   */
  readonly connection_pool_size: number
  /**
   * Seconds after its upload, or after the last FindMissingBlobs that found it, until Redis expires a blob; 0 means never.
   */
  readonly key_ttl_s: number
  /**
   * Chunks of one upload in flight at one time.
   */
  readonly max_chunk_uploads_per_update: number
  /**
   * Most requests at one time; further ones wait.
   */
  readonly max_client_permits: number
  /**
   * How failed calls are retried.
   */
  readonly retry: Retry
  /**
   * The same as `connection_timeout_ms`, in seconds; excludes that key.
   */
  readonly connection_timeout_s?: number
}

/**
 * Keeps blobs as documents of MongoDB, large ones in chunks. For machines that share a cache and already have such a server.
 */
export interface ExperimentalMongoOptions {
  /**
   * Address and credentials of the database: `mongodb://[username:password@]host[:port][,...][/?options]` or `mongodb+srv://`. The keys here override its options for times and retries, and for the write concern if `write_concern_w` is set.
   */
  readonly connection_string: string
  /**
   * Name of the database.
   */
  readonly database: string
  /**
   * Collection of the blobs. Chunks of large blobs are in a second collection with the suffix `.chunks`; a third, `.orphans`, lists chunks that belong to no blob.
   */
  readonly cas_collection: string
  /**
   * Prefix of every key. Stores that share a collection need different prefixes, above all an action cache and a CAS.
   */
  readonly key_prefix: string
  /**
   * Blobs of up to this many bytes are one document; larger ones are split into documents of this size; at most 15 MiB.
   */
  readonly read_chunk_size: number
  /**
   * Milliseconds that connecting may take, including finding a server that accepts writes.
   */
  readonly connection_timeout_ms: number
  /**
   * Milliseconds a command may take.
   */
  readonly command_timeout_ms: number
  /**
   * How many servers of a replica set must have a blob before it counts as written: a number, or `majority`. Left out: the default of the server.
   */
  readonly write_concern_w?: string
  /**
   * Whether they must have it in their journals; needs `write_concern_w`.
   */
  readonly write_concern_j?: boolean
  /**
   * Milliseconds after which this fails; needs `write_concern_w`.
   */
  readonly write_concern_timeout_ms?: number
  /**
   * Most requests at one time. Left out or 0: no limit.
   */
  readonly max_requests?: number
}

/**
 * Keeps each blob as an object in a bucket. Credentials come from the default sources of the provider's library, unless keys here give them. Give an S3 bucket a lifecycle rule that aborts incomplete multipart uploads after a day: if an answer is lost or the process killed, nothing else removes such an upload.
 */
export interface ExperimentalCloudObjectStoreOptions {
  /**
   * The provider; it decides which of the other fields apply.
   */
  readonly provider: 'aws' | 'gcs' | 'azure' | 'ontap' | 'r2' | 'oci'
  /**
   * Region (aws, oci). Left out with aws: `AWS_REGION` or the profile.
   */
  readonly region?: string
  /**
   * Bucket (all but azure, whose word is `container`).
   */
  readonly bucket?: string
  /**
   * Bytes of one part of a resumable upload (gcs), rounded up to 256 KiB.
   */
  readonly resumable_chunk_size: number
  /**
   * Refuse to start without credentials (gcs); otherwise requests are sent without any if none are found.
   */
  readonly authentication_required: boolean
  /**
   * Seconds connecting may take (gcs).
   */
  readonly connection_timeout_s: number
  /**
   * Seconds without progress after which a read fails (gcs).
   */
  readonly read_timeout_s: number
  /**
   * Storage account (azure).
   */
  readonly account_name?: string
  /**
   * Container (azure).
   */
  readonly container?: string
  /**
   * Signed address of the account or the container, instead of other credentials (azure).
   */
  readonly sas_url?: string
  /**
   * Address of the service. Required for ontap; elsewhere it replaces the provider's own address, for another server with the same protocol. Left out or empty with aws: `AWS_ENDPOINT_URL_S3`.
   */
  readonly endpoint?: string
  /**
   * Virtual server, used as the region (ontap).
   */
  readonly vserver_name?: string
  /**
   * PEM file of the authorities to trust instead of the system's (ontap).
   */
  readonly root_certificates?: string
  /**
   * Account, part of the address (r2).
   */
  readonly account_id?: string
  /**
   * Namespace, part of the address (oci).
   */
  readonly namespace?: string
  /**
   * Key id (r2, oci). Left out: the default sources of Amazon's library, `AWS_ACCESS_KEY_ID` first.
   */
  readonly access_key_id?: string
  /**
   * Secret of the key (r2, oci); goes with `access_key_id`.
   */
  readonly secret_access_key?: string
  /**
   * Prefix of every key, without a separator. Different prefixes keep content separate.
   */
  readonly key_prefix: string
  /**
   * How failed calls are retried.
   */
  readonly retry: Retry
  /**
   * Objects older than this many seconds count as missing, so that a rule of the bucket may delete them; 0 means never.
   */
  readonly consider_expired_after_s: number
  /**
   * The age in days at which a rule of the bucket deletes objects; 0: there is no such rule, or nothing is promised. The store then keeps what is used: objects that are read, found by FindMissingBlobs or named by a served action cache hit are made young again once half of this age has passed, by copying them onto themselves inside the bucket (azure: by setting their metadata). So a quarter of this age is promised (`retention` of other stores). The credentials need the right to write. A rule for azure must count days since modification, not since creation. Versioning or soft delete would keep each copy.
   */
  readonly lifecycle_days: number
  /**
   * Largest body of one upload request, which is held in memory for a retry; larger blobs are sent in parts of this size. At least the provider's minimum for a part (5 MiB with S3). Left out: 5 MB, with ontap 20 MB. With gcs the part size is `resumable_chunk_size`.
   */
  readonly max_retry_buffer_per_request?: number
  /**
   * Parts in flight at one time, of all uploads together; each takes the memory of a part.
   */
  readonly multipart_max_concurrent_uploads: number
  /**
   * Allow an address with `http://`.
   */
  readonly insecure_allow_http: boolean
}

/**
 * An ONTAP object store (as `experimental_cloud_object_store` with `provider: 'ontap'`) with a list of its keys, so that lookups of listed blobs need no request. The list is kept in a file and rebuilt from time to time; unlisted blobs are looked up. A blob deleted by others is reported until the next list. For a CAS; action results are always looked up.
 */
export interface OntapS3ExistenceCacheOptions {
  /**
   * File of the list; each store needs one of its own. It may be deleted while the server is stopped.
   */
  readonly index_path: string
  /**
   * Seconds from the end of one listing to the beginning of the next. For this long a blob deleted by others may still be reported as present.
   */
  readonly sync_interval_seconds: number
  /**
   * The object store.
   */
  readonly backend: OntapBackend
}

/**
 * The object store.
 */
export interface OntapBackend {
  /**
   * Address of the service, with `https://` unless `insecure_allow_http` is set.
   */
  readonly endpoint: string
  /**
   * Virtual server, used as the region.
   */
  readonly vserver_name: string
  /**
   * Bucket.
   */
  readonly bucket: string
  /**
   * PEM file of the authorities to trust instead of the system's.
   */
  readonly root_certificates?: string
  /**
   * Prefix of every key, without a separator.
   */
  readonly key_prefix: string
  /**
   * How failed calls are retried.
   */
  readonly retry: Retry
  /**
   * Objects older than this many seconds count as missing; 0 means never.
   */
  readonly consider_expired_after_s: number
  /**
   * Largest body of one upload request, which is held in memory for a retry; larger blobs are sent in parts of this size.
   */
  readonly max_retry_buffer_per_request: number
  /**
   * Parts in flight at one time, of all uploads together; each takes the memory of a part.
   */
  readonly multipart_max_concurrent_uploads: number
  /**
   * Allow an address with `http://`.
   */
  readonly insecure_allow_http: boolean
}

/**
 * Adds a label to the cache metrics of its backend. Every store is counted without it too.
 */
export interface CacheMetricsOptions {
  /**
   * The label, such as `cas` or `ac`.
   */
  readonly cache_type: string
  /**
   * The store that is counted.
   */
  readonly backend: StoreConfig
}

/**
 * Queues actions in memory and hands them to workers whose properties satisfy them.
 */
export interface SimpleSchedulerOptions {
  /**
   * The platform properties that actions may ask for, and how each is matched. `exact`: the values are equal. `minimum`: the worker has at least this number, and reserves that much while the action runs. `priority`: the worker has the property. `ignore`: always matches. `'*'` sets the match for every property that is not listed; without it an action that asks for an unlisted property is rejected. Unless listed, `persistentWorkerKey` and `persistentWorkerProtocol`, which Bazel adds itself, are accepted and match every worker. Unless listed, `container-image` and `docker-image` are not covered by `'*': 'ignore'`: an action that names an image by them needs a worker with `container_images`; list them as `ignore` to run such actions on workers as they are.
   */
  readonly supported_platform_properties: ReadonlyMap<string, 'minimum' | 'exact' | 'priority' | 'ignore'>
  /**
   * Seconds for which WaitExecution and GetOperation still find a finished operation.
   */
  readonly retain_completed_for_s: number
  /**
   * Seconds that an operation continues without a client that waits for it; then it is cancelled.
   */
  readonly client_action_timeout_s: number
  /**
   * Seconds without a keepalive after which a worker counts as lost and its actions are queued again.
   */
  readonly worker_timeout_s: number
  /**
   * Seconds without news from the worker that runs an action before the action is queued again. This counts as an attempt; 0 turns it off.
   */
  readonly max_action_executing_timeout_s: number
  /**
   * Seconds in which a worker must confirm that it stopped an action; after that the worker is removed.
   */
  readonly unacknowledged_kill_timeout_s: number
  /**
   * After so many failures in a row of different actions that were the worker's own (a store, a disk, a right), the worker is set aside for `worker_backoff_s`. Then it gets one action, and all it can run once that has run. 0: never.
   */
  readonly worker_failures_in_a_row: number
  /**
   * Seconds for which a worker is set aside the first time; twice as long each time that the action it is tried with fails too, up to 32 times as long.
   */
  readonly worker_backoff_s: number
  /**
   * How often an action is retried after a lost worker, an internal error of a worker or `max_action_executing_timeout_s`. One failure more returns the last error. 0 means no retry.
   */
  readonly max_job_retries: number
  /**
   * The choice among matching workers: the one that was idle longest spreads the load, the one used last keeps its inputs warm.
   */
  readonly allocation_strategy: 'least_recently_used' | 'most_recently_used'
  /**
   * `memory`: this process alone has the queue. `{redis: {redis_store: NAME}}` or `{object: {object_store: NAME}}`: all servers with the same one have one queue, of which one elected server takes care; Redis, or an object of a bucket, keeps who that is, and nothing of the queue. Needs `peers`.
   */
  readonly experimental_backend: 'memory' | {readonly redis: RedisElection} | {readonly object: ObjectElection}
  /**
   * How the servers that have one queue reach each other. Only with an `experimental_backend` that they share.
   */
  readonly peers?: Peers
  /**
   * Seconds between log lines about actions that wait and that no worker matches. The first line comes at once. 0 or -1: only that one.
   */
  readonly worker_match_logging_interval_s: number
  /**
   * Seconds between matching passes that run even when nothing has changed; 0 or less turns them off.
   */
  readonly fallback_match_interval_s: number
  /**
   * Seconds that an action stays queued while no connected worker could ever run it, or only workers that are sick or set aside. Then the client gets FAILED_PRECONDITION with the requested properties and those of the workers, or UNAVAILABLE with what is wrong with them. 0 means no limit.
   */
  readonly no_worker_timeout_s: number
  /**
   * Most actions waiting for a worker; further ones are refused with RESOURCE_EXHAUSTED.
   */
  readonly max_queued_actions: number
  /**
   * Most actions of one instance waiting for a worker; further ones of it are refused with RESOURCE_EXHAUSTED. 0 sets no limit beyond `max_queued_actions`.
   */
  readonly max_queued_actions_per_instance: number
  /**
   * Most actions of one instance running at a time; further ones wait although a worker has room. 0 sets no limit.
   */
  readonly max_running_actions_per_instance: number
  /**
   * Seconds of waiting that count as one step of priority, so that actions of low priority are not starved. 0 turns this off.
   */
  readonly priority_ageing_s: number
  /**
   * Seconds after a start in which workers may continue actions of the previous scheduler process, for clients that come back. Later, and always with 0, workers must stop them; then a restart runs such actions again.
   */
  readonly adopt_attempts_for_s: number
  /**
   * Seconds that an action with a `minimum` property waits before one suitable worker is reserved for it. That worker gets no other action until this one fits. 0 turns this off.
   */
  readonly hold_worker_after_s: number
  /**
   * Learn what actions need from their own past: those of one target and mnemonic (`target_id` and `action_mnemonic` of the client), by the last eight runs. Kept in memory, so a restart begins anew.
   */
  readonly learned_sizes: LearnedSizes
  /**
   * Milliseconds that an action waits for a worker that has what it needs ready (a process of its persistent worker, its image, an input root of its kind), while others that would have to get it first have room. In that time such a worker also takes it before another action of the same build, of the same priority, that is next. 0: workers that have it are only preferred if they have room.
   */
  readonly warm_worker_wait_ms: number
}

/**
 * The election by Redis or Valkey: standard, sentinel or cluster.
 */
export interface RedisElection {
  /**
   * A store of kind `redis_store`, whose address is used. Servers whose scheduler has the same name and `key_prefix` there have one queue.
   */
  readonly redis_store: string
}

/**
 * The election by an object of S3, Google Cloud Storage or Azure, or of a compatible server that refuses writes whose condition does not hold.
 */
export interface ObjectElection {
  /**
   * A store of kind `experimental_cloud_object_store`, whose bucket and credentials are used. Servers whose scheduler has the same name and `key_prefix` there have one queue. The credentials read, write and delete objects below `KEY_PREFIXremexec/`.
   */
  readonly object_store: string
}

/**
 * How the servers that have one queue reach each other. Only with an `experimental_backend` that they share.
 */
export interface Peers {
  /**
   * `address`: where the other servers reach the services `execution` and `worker_api` of this one. The rest says how this server calls them; by certificate or `headers` they have to know it, and grant it `forward`, `work`, `execute` and `administer`.
   */
  readonly endpoint: GrpcEndpoint
  /**
   * Metadata that this server sends to the others with every call, such as `authorization: 'Bearer ${TOKEN}'`.
   */
  readonly headers: ReadonlyMap<string, string>
  /**
   * Seconds after which another server may lead, if the leader is not heard of. It renews its lease three times in this time. Default: 3, and 10 with an object.
   */
  readonly lease_s?: number
  /**
   * What the leader does while `experimental_backend` does not answer. `continue`: goes on, as long as no server that it reaches knows of another leader. `stop`: leads no more, so that nothing is started before it answers.
   */
  readonly when_engine_away: 'continue' | 'stop'
  /**
   * Seconds that operations wait while nobody leads, before they and new actions end with UNAVAILABLE.
   */
  readonly leader_wait_s: number
}

/**
 * Learn what actions need from their own past: those of one target and mnemonic (`target_id` and `action_mnemonic` of the client), by the last eight runs. Kept in memory, so a restart begins anew.
 */
export interface LearnedSizes {
  /**
   * `off`; `hint`: the log of ended actions (`learnedMemoryKb`, `learnedCpus`) and the page `/sizes` say what would be reserved; `on`: an action reserves on its worker a fifth more memory than its largest run had, and the processors that it kept busy, if it does not ask for more and any worker has as much. One that is ended at the memory that it asks for runs again with twice as much, up to three times, and its next runs begin with that.
   */
  readonly use: 'off' | 'hint' | 'on'
  /**
   * Property with the memory in KiB; needs `minimum` in `supported_platform_properties`. Empty: memory is not learned.
   */
  readonly memory_property: string
  /**
   * Property with the number of processors; needs `minimum` in `supported_platform_properties`. Empty: processors are not learned.
   */
  readonly cpu_property: string
}

/**
 * Forwards executions to another scheduler.
 */
export interface GrpcSchedulerOptions {
  /**
   * Its address.
   */
  readonly endpoint: GrpcEndpoint
  /**
   * Metadata sent with every call, such as `authorization: 'Bearer ${TOKEN}'`.
   */
  readonly headers: ReadonlyMap<string, string>
  /**
   * How failed calls are retried.
   */
  readonly retry: Retry
  /**
   * Most requests at one time; 0 means no limit.
   */
  readonly max_concurrent_requests: number
  /**
   * Connections to it.
   */
  readonly connections_per_endpoint: number
  /**
   * Seconds that operations wait for a scheduler that cannot be reached, while it restarts for instance, before they and new actions end with UNAVAILABLE. Needs a server of this release there that grants this one `forward`; with another, operations end when its connection is lost for 3 s.
   */
  readonly scheduler_wait_s: number
}

/**
 * Answers from an action cache before anything is queued.
 */
export interface CacheLookupSchedulerOptions {
  /**
   * The action cache.
   */
  readonly ac_store: string
  /**
   * The scheduler that gets the other actions.
   */
  readonly scheduler: SchedulerConfig
}

/**
 * Changes the platform properties of incoming actions.
 */
export interface PropertyModifierSchedulerOptions {
  /**
   * The changes, applied in order.
   */
  readonly modifications: readonly (
    {readonly add: PropertyAddition} | {readonly remove: string} | {readonly replace: PropertyReplacement}
  )[]
  /**
   * The scheduler that gets the changed actions.
   */
  readonly scheduler: SchedulerConfig
}

/**
 * Sets a property, whether it was there or not.
 */
export interface PropertyAddition {
  /**
   * The property.
   */
  readonly name: string
  /**
   * Its value.
   */
  readonly value: string
}

/**
 * Renames a property, or changes its value.
 */
export interface PropertyReplacement {
  /**
   * The property.
   */
  readonly name: string
  /**
   * Only if it has this value.
   */
  readonly value?: string
  /**
   * Its new name.
   */
  readonly new_name: string
  /**
   * Its new value; left out keeps the old one.
   */
  readonly new_value?: string
}

/**
 * Raises the resources that an action asks for to its measured need.
 */
export interface HistoricalResourceSchedulerOptions {
  /**
   * JSON file with the measured needs of earlier actions.
   */
  readonly hints_file: string
  /**
   * Seconds between reloads; 0 loads once.
   */
  readonly refresh_interval_s: number
  /**
   * Property with the number of CPUs.
   */
  readonly cpu_property_name: string
  /**
   * Property with the memory in KiB.
   */
  readonly memory_property_name: string
  /**
   * The scheduler that gets the changed actions.
   */
  readonly scheduler: SchedulerConfig
}

/**
 * A worker on this machine. If a server of this file serves its worker API, the worker runs in its own process: the server starts it, restarts it after a crash, and stops it when the server ends. It talks to the scheduler over the network like any other worker, but reads the files of its store directly, without the server.
 */
export interface LocalWorkerOptions {
  /**
   * Prefix of the worker id in logs and metrics. Left out: `worker_` and its index in the list.
   */
  readonly name: string
  /**
   * The worker API of the scheduler.
   */
  readonly worker_api_endpoint: WorkerApiEndpoint
  /**
   * Longest timeout in seconds that an action may ask for, and the default for actions that ask for none. The default is a day, because clients ask for much: reclient for 1 hour by default, Siso for 2, Bazel for 1 with `timeout = "eternal"`.
   */
  readonly max_action_timeout_s: number
  /**
   * Seconds the upload of the outputs may take; longer counts as a failed attempt.
   */
  readonly max_upload_timeout_s: number
  /**
   * Most actions the worker runs at one time; `cores` means one for each core of this machine, 0 no limit.
   */
  readonly max_inflight_tasks: number
  /**
   * Leave the timeout of an action to its command or wrapper; the worker stops it at `max_action_timeout_s` only.
   */
  readonly timeout_handled_externally: boolean
  /**
   * Seconds from SIGTERM to SIGKILL for the processes of an action that is ended: at its timeout, when nobody waits for it any more, or when the worker stops. It ends sooner when all of them have ended, and its slot is held until then. At a stop the grace is part of `drain_s`, and a quarter of it at most. 0: SIGKILL at once. An action that exceeds one of `action_limits` is always killed at once.
   */
  readonly termination_grace_s: number
  /**
   * Message of an action that timed out. Siso treats exactly the default as final; Buck2 looks for `Execution timed out`.
   */
  readonly timeout_message: string
  /**
   * Command put before the command line of every action; split into words, no shell.
   */
  readonly entrypoint: string
  /**
   * Command run before every action, split into words without a shell. If it fails, the action goes back to the queue and the worker pauses.
   */
  readonly experimental_precondition_script?: string
  /**
   * The store of inputs and outputs: a `fast_slow` whose fast side is a `filesystem`, or a `dedup` whose `content_store` and `whole_store` are, because inputs are linked from there.
   */
  readonly cas_fast_slow_store: string
  /**
   * Which results the worker writes to the action cache.
   */
  readonly upload_action_result: UploadActionResult
  /**
   * Directory in which actions run, in one folder `remexec-...` per start of the worker. The worker removes the folders of earlier starts while it runs, and touches nothing else. Must be on the same file system as the fast store and belong to this worker alone.
   */
  readonly work_directory: string
  /**
   * The platform properties of the worker, by name.
   */
  readonly platform_properties: ReadonlyMap<string, {readonly values: readonly string[]} | {readonly query_cmd: string}>
  /**
   * Variables every command gets in addition to its own, and where each value comes from: `from_environment`, `timeout_millis`, `side_channel_file`, `action_directory`, `{property: NAME}` or `{value: TEXT}`.
   */
  readonly additional_environment: ReadonlyMap<
    string,
    | 'from_environment'
    | 'timeout_millis'
    | 'side_channel_file'
    | 'action_directory'
    | {readonly property: string}
    | {readonly value: string}
  >
  /**
   * `PATH` of commands that set none and get none from `additional_environment`, also if they set other variables. Empty: none.
   */
  readonly default_path: string
  /**
   * Limits on an action. An action that exceeds one is killed with all its processes, and its operation ends with RESOURCE_EXHAUSTED and the limit. Checked several times a second, so a fast action can exceed a limit briefly.
   */
  readonly action_limits: ActionLimits
  /**
   * Keep whole input roots between actions. An action whose root is kept gets it at once, whatever its size. Otherwise the kept root that has the most in common with it is changed, so the action waits only for the files that differ. After each action the worker removes added files and compares every file by inode, size, times and modes. A root that changed is not kept, nor one whose command may have left a process behind. Excludes `experimental_precondition_script` and variables for a side channel or the action directory. Needs Linux, and koffi or `use_namespaces`.
   */
  readonly directory_cache?: DirectoryCache
  /**
   * Give each action a control group (version 2) of Linux: the kernel then holds `processes` and `memory_bytes` of `action_limits` and the memory that an action asks for, shares the processors by what actions ask for, and ends all that an action started at once. An action that is ended for its memory is told its limit and its peak. Without groups the worker follows processes in /proc. A command that is not confined by `use_mount_namespace` could leave its group.
   */
  readonly control_groups: ControlGroups
  /**
   * Run actions in the image that they name by the property `container-image` or `docker-image`: `docker://HOST/NAME@sha256:…`, or with a tag. Images are fetched by `skopeo` and unpacked by `umoci`, which must be in PATH, and kept. The command sees the image read-only, its directory at `/remexec`, and private `/tmp`, `/var/tmp`, `/dev` and `/proc`; variables of the image are below its own. Actions that name no image run on the worker's own system. Needs `use_mount_namespace`; excludes `entrypoint` and `input_root_is_root`. `{}` switches it on.
   */
  readonly container_images?: ContainerImages
  /**
   * Tools that stay up between actions, as Bazel's persistent workers: an action that asks for one by the property `persistentWorkerKey` (`--experimental_remote_mark_tool_inputs`) becomes a request to a process that is already warm. A process serves one instance, scope, tool, environment and startup line. If it fails, its command runs as it stands. Actions without the property are not concerned. Needs Linux and koffi; has no effect beside `input_root_is_root`, `experimental_precondition_script` and variables for a side channel or the action directory.
   */
  readonly persistent_workers: PersistentWorkers
  /**
   * Run each action by bubblewrap (`bwrap`) in its own Linux user, process, IPC, host name and network namespaces, without root rights. It sees no process of the machine and has no network, and all its processes end with it. The worker does not start if this is impossible.
   */
  readonly use_namespaces: boolean
  /**
   * Give actions the network of the machine; without `use_namespaces` they have it anyway.
   */
  readonly keep_network: boolean
  /**
   * Give each action its own mount namespace; needs `use_namespaces`. The machine is read-only except the directory of the action; `/tmp` and `/var/tmp` are private and empty. The action sees no other action, no path that this configuration names (its own file, folders of stores, keys, lists of tokens), and no Unix socket of the machine: docs/security.md has the exact list.
   */
  readonly use_mount_namespace: boolean
  /**
   * With `use_mount_namespace` an action cannot change, replace or remove its inputs, because they are mounted read-only. It can create files in the working directory, beside its outputs, and in the directories above those. It can write copies: an output that is also an input, and files beside outputs above 128 mounts. It can replace a symlink beside outputs, which no other action sees. `false`: all inputs are copies (clones if the file system has them) that no other action gets.
   */
  readonly read_only_inputs: boolean
  /**
   * For clients that send a whole system with each action, such as BuildStream: the input root is `/`, with `/dev`, `/proc` and a private `/tmp`, and without any path of the machine. Needs `use_mount_namespace`.
   */
  readonly input_root_is_root: boolean
}

/**
 * The worker API of the scheduler.
 */
export interface WorkerApiEndpoint {
  /**
   * `grpc://host:port`, or `grpcs://host:port` with `tls_config`. If no server of this configuration listens on a local address given here, the process opens that listener itself; in a file without schedulers it connects to another process there.
   */
  readonly uri: string
  /**
   * Seconds; the worker reports that it is alive twice in this time.
   */
  readonly timeout: number
  /**
   * TLS towards the scheduler: needed with `grpcs`, rejected without. Its files are read again for each connection.
   */
  readonly tls_config?: ClientTls
  /**
   * Metadata sent with the connection, such as an `authorization` that identifies this worker.
   */
  readonly headers: ReadonlyMap<string, string>
}

/**
 * Which results a worker stores, and where.
 */
export interface UploadActionResult {
  /**
   * The action cache. Left out: the execution service stores cacheable results with exit code 0.
   */
  readonly ac_store?: string
  /**
   * Which results go to the action cache; `success_only` are those with exit code 0 and no error.
   */
  readonly upload_ac_results_strategy: 'success_only' | 'never' | 'everything' | 'failures_only'
  /**
   * The CAS in which complete responses are kept. Left out: the store of the worker.
   */
  readonly historical_results_store?: string
  /**
   * Actions whose complete response is kept, as a blob `remexec.worker.v1.HistoricalExecuteResponse` with the digest of the action. `failures_only` means an exit code other than 0, or an error.
   */
  readonly upload_historical_results_strategy: 'success_only' | 'never' | 'everything' | 'failures_only'
  /**
   * Message of a response with exit code 0. Placeholders: `{digest_function}`, `{action_digest_hash}`, `{action_digest_size}`, `{historical_results_hash}` and `{historical_results_size}`. The last two name the response that was kept; they are empty if none was.
   */
  readonly success_message_template: string
  /**
   * Message of any other response, with the same placeholders.
   */
  readonly failure_message_template: string
}

/**
 * Limits on an action. An action that exceeds one is killed with all its processes, and its operation ends with RESOURCE_EXHAUSTED and the limit. Checked several times a second, so a fast action can exceed a limit briefly.
 */
export interface ActionLimits {
  /**
   * Most bytes of stdout, and as many of stderr; 0 means no limit.
   */
  readonly printed_bytes: number
  /**
   * Most disk bytes of files that the action creates in its input root, and with `use_mount_namespace` in each of `/tmp`, `/var/tmp` and `/dev/shm`, which are in memory; 0 means no limit. The lengths of its outputs are limited too, because the store writes a sparse output in full.
   */
  readonly disk_bytes: number
  /**
   * Most processes at a time, and with `control_groups` their threads too; 0 means no limit.
   */
  readonly processes: number
  /**
   * Most resident bytes of its processes together; 0 means no limit. Shared memory counts for each process. With `control_groups` it counts once, with files in memory (`/tmp`, `/dev/shm`, memfd).
   */
  readonly memory_bytes: number
}

/**
 * Keep whole input roots between actions. An action whose root is kept gets it at once, whatever its size. Otherwise the kept root that has the most in common with it is changed, so the action waits only for the files that differ. After each action the worker removes added files and compares every file by inode, size, times and modes. A root that changed is not kept, nor one whose command may have left a process behind. Excludes `experimental_precondition_script` and variables for a side channel or the action directory. Needs Linux, and koffi or `use_namespaces`.
 */
export interface DirectoryCache {
  /**
   * Most input roots kept; the most recently used stay.
   */
  readonly max_entries: number
  /**
   * Most bytes in the files of the kept roots, which are links to the store if possible; 0 means no limit.
   */
  readonly max_size_bytes: number
  /**
   * Seconds after which a root that no action used is removed.
   */
  readonly max_age_s: number
}

/**
 * Give each action a control group (version 2) of Linux: the kernel then holds `processes` and `memory_bytes` of `action_limits` and the memory that an action asks for, shares the processors by what actions ask for, and ends all that an action started at once. An action that is ended for its memory is told its limit and its peak. Without groups the worker follows processes in /proc. A command that is not confined by `use_mount_namespace` could leave its group.
 */
export interface ControlGroups {
  /**
   * `if_delegated`: where this process has a group to itself, such as by `Delegate=yes` of a systemd unit, as in those that come with remexec. `always`: the worker does not start without. `never`: processes are followed.
   */
  readonly use: 'if_delegated' | 'always' | 'never'
  /**
   * The group in which those of actions are made, below /sys/fs/cgroup. It has to exist, to have the controllers `memory` and `pids`, and to belong to this user. Left out: the group of the process.
   */
  readonly directory?: string
  /**
   * Property by which actions ask for memory in KiB. Their processes together get no more than they ask for. Empty: no limit but `memory_bytes` of `action_limits`.
   */
  readonly memory_property: string
  /**
   * Property by which actions ask for processors. Those that ask for more get as much more time while processors are contended; without contention there is no limit. Empty: all have the same share.
   */
  readonly cpu_property: string
}

/**
 * Run actions in the image that they name by the property `container-image` or `docker-image`: `docker://HOST/NAME@sha256:…`, or with a tag. Images are fetched by `skopeo` and unpacked by `umoci`, which must be in PATH, and kept. The command sees the image read-only, its directory at `/remexec`, and private `/tmp`, `/var/tmp`, `/dev` and `/proc`; variables of the image are below its own. Actions that name no image run on the worker's own system. Needs `use_mount_namespace`; excludes `entrypoint` and `input_root_is_root`. `{}` switches it on.
 */
export interface ContainerImages {
  /**
   * Where unpacked images are kept; belongs to this worker alone. Left out: `images` in the work directory.
   */
  readonly directory?: string
  /**
   * Most disk bytes of the images that are kept. The least recently used are removed first, never one in use. An image that is being unpacked comes on top.
   */
  readonly max_bytes: number
  /**
   * Seconds after which an image that no action used is removed.
   */
  readonly max_age_s: number
  /**
   * Most bytes of one image, both compressed and unpacked. Actions that name a larger one are refused.
   */
  readonly max_image_bytes: number
  /**
   * Most files and directories of one image.
   */
  readonly max_image_files: number
  /**
   * Seconds that fetching an image may take, and as many for unpacking it.
   */
  readonly pull_timeout_s: number
  /**
   * Seconds for which a tag stands for the digest that it had when it was looked up.
   */
  readonly tag_age_s: number
  /**
   * Registries to fetch from: `ghcr.io`, `ghcr.io/acme` for what is below that path, `http://10.0.0.5:5000` for one without TLS. Names without a host are of `docker.io`. Empty: every registry with a public address.
   */
  readonly registries: readonly string[]
  /**
   * Addresses and networks besides public ones, for registries that are not listed: `10.0.0.0/8`. Without it, a client could use the worker to reach services that trust it.
   */
  readonly allow_addresses: readonly string[]
  /**
   * Images that are fetched when the worker starts and looked after every ten minutes, before an action names them. They have no right to stay: `max_bytes` and `max_age_s` hold for them too.
   */
  readonly prefetch: readonly string[]
  /**
   * Credentials of registries, in the form that `skopeo login --authfile` writes. Everybody whose actions run here can use the images that they open. Left out: registries are asked without an account.
   */
  readonly auth_file?: string
}

/**
 * Tools that stay up between actions, as Bazel's persistent workers: an action that asks for one by the property `persistentWorkerKey` (`--experimental_remote_mark_tool_inputs`) becomes a request to a process that is already warm. A process serves one instance, scope, tool, environment and startup line. If it fails, its command runs as it stands. Actions without the property are not concerned. Needs Linux and koffi; has no effect beside `input_root_is_root`, `experimental_precondition_script` and variables for a side channel or the action directory.
 */
export interface PersistentWorkers {
  /**
   * `false`: every command has a process of its own.
   */
  readonly enabled: boolean
  /**
   * Most processes, with those that have a request. Beyond it the least recently used one ends, or the command runs as it stands. 0: twice `max_inflight_tasks`, and at least 8.
   */
  readonly max_processes: number
  /**
   * Seconds after which a process without a request ends.
   */
  readonly max_idle_s: number
  /**
   * Requests after which a process ends, because tools leak memory; 0 means no limit.
   */
  readonly max_requests: number
  /**
   * Most resident bytes of all of them together. Beyond it the largest one without a request ends first. 0: a quarter of the memory of the machine, or of its container.
   */
  readonly max_memory_bytes: number
}

/**
 * Content addressable storage for one instance. ByteStream and Capabilities for the instance come with it.
 */
export interface CasServiceOptions {
  /**
   * The name clients send to reach this entry; may be empty and may have several segments, as in `team/main`. `*` serves every name that has no entry of its own in this list.
   */
  readonly instance_name: string
  /**
   * The store of its blobs.
   */
  readonly cas_store: string
  /**
   * Serve SplitBlob and SpliceBlob, and announce how blobs are cut. Clients then transfer only the changed chunks of a large blob. For ten minutes after a SplitBlob answer the server touches its chunks every 30 seconds, so that a store evicts them only if it takes in more than its own size within 30 seconds. It does not touch stores that do not evict by use (object stores).
   */
  readonly experimental_chunking?: Chunking
}

/**
 * Serve SplitBlob and SpliceBlob, and announce how blobs are cut. Clients then transfer only the changed chunks of a large blob. For ten minutes after a SplitBlob answer the server touches its chunks every 30 seconds, so that a store evicts them only if it takes in more than its own size within 30 seconds. It does not touch stores that do not evict by use (object stores).
 */
export interface Chunking {
  /**
   * The store of the chunk lists, so that a blob is split once; the chunks themselves go to `cas_store`. It may be any store, also `cas_store`: no client can name the keys of lists. Without it each SplitBlob splits the blob again. The same holds if `cas_store` is a `grpc` store.
   */
  readonly index_store?: string
  /**
   * How blobs are cut: `fast_cdc_2020`, which all clients have that chunk at all, or `rep_max_cdc`, whose chunks differ less in size and which Bazel has from 9.3 on. Cutting by it costs about three times the CPU. A change does not invalidate what is stored, but chunks cut the other way are not shared.
   */
  readonly chunking_function: 'fast_cdc_2020' | 'rep_max_cdc'
  /**
   * Target chunk size of `fast_cdc_2020`, from 1 KiB to 1 MiB. Chunks have a quarter of it to four times as much. Blobs of up to four times this size should not be chunked.
   */
  readonly avg_chunk_size_bytes: number
  /**
   * Smallest chunk of `rep_max_cdc`, from 1 KiB to 1 MiB. Chunks have less than twice that.
   */
  readonly min_chunk_size_bytes: number
  /**
   * How far `rep_max_cdc` looks for the best end of a chunk, at most 16 MiB. Default: eight times `min_chunk_size_bytes`.
   */
  readonly horizon_size_bytes?: number
  /**
   * Most chunks of a blob. A blob that would have more is neither split nor spliced.
   */
  readonly max_chunk_count: number
}

/**
 * The action cache of one instance.
 */
export interface AcServiceOptions {
  /**
   * The name clients send to reach this entry; may be empty and may have several segments, as in `team/main`. `*` serves every name that has no entry of its own in this list.
   */
  readonly instance_name: string
  /**
   * The store of its results; not the store of its blobs.
   */
  readonly ac_store: string
  /**
   * Reject UpdateActionResult from clients. Results of executions are still stored.
   */
  readonly read_only: boolean
}

/**
 * The answer of GetCapabilities for one instance. Every instance named by another service has it without configuration.
 */
export interface CapabilitiesServiceOptions {
  /**
   * The name clients send to reach this entry; may be empty and may have several segments, as in `team/main`. `*` serves every name that has no entry of its own in this list.
   */
  readonly instance_name: string
  /**
   * Announce remote execution. Left out: announced when the instance has `execution`.
   */
  readonly remote_execution?: RemoteExecution
  /**
   * Announce the compressors clients may use for transfers.
   */
  readonly remote_cache_compression: boolean
}

/**
 * Announce remote execution. Left out: announced when the instance has `execution`.
 */
export interface RemoteExecution {
  /**
   * The scheduler whose platform properties are announced.
   */
  readonly scheduler: string
}

/**
 * Remote execution for one instance.
 */
export interface ExecutionServiceOptions {
  /**
   * The name clients send to reach this entry; may be empty and may have several segments, as in `team/main`. `*` serves every name that has no entry of its own in this list.
   */
  readonly instance_name: string
  /**
   * The store of its actions and inputs.
   */
  readonly cas_store: string
  /**
   * The scheduler that runs its actions.
   */
  readonly scheduler: string
}

/**
 * Remote Asset Fetch for one instance: content by URI, for Bazel's `--experimental_remote_downloader`, BuildStream and Please.
 */
export interface FetchServiceOptions {
  /**
   * The name clients send to reach this entry; may be empty and may have several segments, as in `team/main`. `*` serves every name that has no entry of its own in this list.
   */
  readonly instance_name: string
  /**
   * Where it is noted which digest an asset has, under keys that no client can name. The content itself is in the CAS of the instance. It may be the store of its blobs or of its results, and the `push_store` of the instance. Over a `grpc` store it needs type `ac` with `record_secret`.
   */
  readonly fetch_store: string
  /**
   * Download assets that nobody has pushed. Without it, Fetch only knows what was pushed. The instance needs a `cas` on the same server.
   */
  readonly download?: Download
}

/**
 * Download assets that nobody has pushed. Without it, Fetch only knows what was pushed. The instance needs a `cas` on the same server.
 */
export interface Download {
  /**
   * Hosts to download from: `example.com`, `*.example.com` for every name below it, or `*` for all.
   */
  readonly allow: readonly string[]
  /**
   * Hosts never to download from, in the same form. Takes precedence over `allow`.
   */
  readonly deny: readonly string[]
  /**
   * Addresses and networks to connect to besides public ones: `10.1.2.3`, `10.0.0.0/8`. Without it, hosts whose addresses are private, link-local or of this machine are refused, after each redirect again, because a client could otherwise use the server to reach services that trust it.
   */
  readonly allow_addresses: readonly string[]
  /**
   * Ports to connect to.
   */
  readonly ports: readonly number[]
  /**
   * The largest download.
   */
  readonly max_size: number
  /**
   * The longest download. A client may ask for less.
   */
  readonly timeout_s: number
  /**
   * How long an origin may be silent.
   */
  readonly idle_timeout_s: number
  /**
   * Most redirects of one download.
   */
  readonly max_redirects: number
  /**
   * Downloads of the instance at a time; more wait. A client (an identity, or an address) has as many of them as are free beside: alone at most half, so that slow origins of one do not stop the downloads of others. A download that no client waits for any more goes on until another waits for a turn.
   */
  readonly max_concurrent: number
  /**
   * What to do for a client that names no checksum (`checksum.sri`). `revalidate`: ask the origin each time, and download what has changed. `reuse`: answer with what was downloaded before, as long as the client accepts its age: faster, and wrong once the origin changes the content. `refuse`: download nothing without a checksum.
   */
  readonly without_checksum: 'revalidate' | 'reuse' | 'refuse'
  /**
   * URL of an HTTP proxy for all downloads: `http://proxy:3128`. The proxy then resolves the names of hosts, so it has to keep clients away from private addresses. Left out: the proxy of `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`, if there is one; names that this machine can look up are then checked here too.
   */
  readonly proxy?: string
}

/**
 * Remote Asset Push for one instance: clients state which content belongs to a URI, and `fetch` of the instance finds it. With `security`, a caller needs the permission `push`.
 */
export interface PushServiceOptions {
  /**
   * The name clients send to reach this entry; may be empty and may have several segments, as in `team/main`. `*` serves every name that has no entry of its own in this list.
   */
  readonly instance_name: string
  /**
   * Where it is noted which digest an asset has; as a rule the `fetch_store` of the instance, with the same conditions.
   */
  readonly push_store: string
  /**
   * Refuse pushes.
   */
  readonly read_only: boolean
}

/**
 * Reads and writes of single blobs for one instance. An instance with `cas` has it without configuration.
 */
export interface BytestreamServiceOptions {
  /**
   * The name clients send to reach this entry; may be empty and may have several segments, as in `team/main`. `*` serves every name that has no entry of its own in this list.
   */
  readonly instance_name: string
  /**
   * The store of its blobs.
   */
  readonly cas_store: string
  /**
   * Most bytes of a blob in one message of a read. Larger messages cost less CPU and hold more memory per stream.
   */
  readonly max_bytes_per_stream: number
  /**
   * Seconds an interrupted upload can be resumed.
   */
  readonly persist_stream_on_disconnect_timeout_s: number
}

/**
 * A cache of a build tool over HTTP, on the port of the server. Its entries are in the action cache of an instance, under keys that no client can name, and its files are blobs in the CAS of that instance, so they are evicted, isolated, replicated and counted like those. Entries of different paths never meet.
 */
export interface HttpCacheServiceOptions {
  /**
   * Where it begins: the key of the object form; starts with a slash. The address for the tool is the address of the server with this path. Another path is another, empty cache.
   */
  readonly path: string
  /**
   * The tool. `bazel`: Bazel's HTTP cache with the additions of bazel-remote, and moon; results and blobs are those of gRPC, so `path` is not part of their names. `ccache`: all its layouts, versions 4.4 and later. `gradle`: HttpBuildCache. `turborepo`: the path is TURBO_API. `nx`: the path is NX_SELF_HOSTED_REMOTE_CACHE_SERVER. `webdav`: sccache. `go`: HTTP helpers of GOCACHEPROG. `maven`: the build cache extension. `opaque`: any tool that puts and gets files under names: Please, Metro, Rush.
   */
  readonly kind: 'bazel' | 'ccache' | 'gradle' | 'turborepo' | 'nx' | 'webdav' | 'go' | 'maven' | 'opaque'
  /**
   * The instance that has its entries. The server must have `cas` for it.
   */
  readonly instance_name: string
  /**
   * A shorthand of `security.scopes` for this cache: callers that may write to this instance and not to `instance_name` are in a scope of its name. They read their own entries first, then those of `instance_name`, and callers that may write to `instance_name` never read theirs (CVE-2025-36852). Needs `security`.
   */
  readonly overlay_instance_name?: string
  /**
   * The largest file. A larger one is refused with 413, before its content is read if its length is known; Nx gets 409, because it ends with an error after 413. Left out: as large as the store and `max_blob_size` of the instance allow.
   */
  readonly max_size?: number
  /**
   * Which upload of a key stays: the last, or the first. With `first` a later upload is accepted and dropped; Nx gets 409, as its specification says.
   */
  readonly overwrite: 'last' | 'first'
  /**
   * Refuse all uploads.
   */
  readonly read_only: boolean
  /**
   * What a download gets if a store fails: the `error`, or a `miss`. Nx ends with an error after any other answer than a hit or a miss, and sccache does not start.
   */
  readonly on_fault: 'error' | 'miss'
}

/**
 * Where workers connect.
 */
export interface WorkerApiServiceOptions {
  /**
   * The scheduler they work for.
   */
  readonly scheduler: string
}

/**
 * Plain HTTP health report on the port of the server: 200, or 503 when a component failed or did not answer in time.
 */
export interface HealthServiceOptions {
  /**
   * Its path; starts with a slash.
   */
  readonly path: string
  /**
   * Seconds each component has to answer.
   */
  readonly timeout_seconds: number
}

/**
 * Pages for people: builds, their logs, tests and cache hits, actions, and the state of the server. They show builds of all servers of the configuration. Without `security` everybody who reaches the port sees them; with it a reader needs `read_ac` in the instance of a build, and logs in by a form, by the header authorization, by a client certificate or by the header of a proxy. docs/builds.md shows how to use them.
 */
export interface PagesServiceOptions {
  /**
   * Where they begin; starts with a slash. Other services of the port keep their paths.
   */
  readonly path: string
  /**
   * The address by which people reach the pages, without `path`, for example `https://builds.example.com`. Links in messages to clients begin with it; without it there are none. With `https` the session of a reader is only sent over TLS.
   */
  readonly address?: string
  /**
   * Where the commit of a build leads, for example `https://github.com/acme/shop/commit/{commit}`. `{commit}`, `{branch}` and `{pull_request}` are what the build says (workspace status or `--build_metadata`), percent-encoded. Without it commits are text.
   */
  readonly commit_url?: string
  /**
   * The same for the pull request of a build, which it names by `PULL_REQUEST`, `PR_NUMBER`, `CHANGE_ID` or `CI_MERGE_REQUEST_IID`: for example `https://github.com/acme/shop/pull/{pull_request}`.
   */
  readonly pull_request_url?: string
  /**
   * How long a reader who logged in by the form stays so. Sessions also end with the process.
   */
  readonly session_s: number
}

/**
 * Workers and queue as JSON over plain HTTP. `GET path` shows them, `GET path/status` and `GET path/builds?limit=50` the process and its builds: `remexec status`, `queue`, `drain`, `builds` and `rm` use this service. `GET path/demand?property=NAME=VALUE` counts what waits and runs by what it asks of a worker, for autoscalers. `GET path/blobs?kind=blobs` lists what the stores keep (`remexec ls`). `PUT` and `DELETE path/drain?scheduler=S&worker=ID` drain and undrain a worker. `DELETE path/operation?name=NAME` cancels an operation, `DELETE path/result?action=HASH-SIZE` (or `target`, or `build`) deletes results from the action cache. `PUT path/profile?seconds=10` gives a CPU profile, `PUT path/heap` a heap snapshot. Every caller may use it unless `security` limits `administer`: put it on a separate server, on an address that only operators reach.
 */
export interface AdminServiceOptions {
  /**
   * Its path; starts with a slash.
   */
  readonly path: string
}

/**
 * A page of metrics for Prometheus, in its text form. Without this service there is none, and metrics are only sent by OTLP. With `security` it needs the permission `administer`.
 */
export interface MetricsServiceOptions {
  /**
   * Its path; starts with a slash.
   */
  readonly path: string
  /**
   * Everybody who reaches the port may read the page, also with `security`. It names stores and workers and tells how much they are used.
   */
  readonly anonymous: boolean
}

/**
 * Takes build events (`--bes_backend` of Bazel) and keeps them: one compressed log for each invocation, in a folder of its own. An event is acknowledged once it is on disk. The project of a request (`--bes_instance_name`) is the instance; with `security` a caller needs `write_cas`, `write_ac` or `execute` there. Several servers of one configuration may offer it with the same settings; they share the folder. docs/builds.md shows how to use it.
 */
export interface BuildEventsServiceOptions {
  /**
   * Folder of the logs. No store and no work directory may share it.
   */
  readonly path: string
  /**
   * Most bytes of all logs. Beyond it the oldest invocations of the caller that has most are removed; those whose events still come in are kept.
   */
  readonly max_bytes: number
  /**
   * Invocations whose last event is older are removed; 0 keeps them until another bound is reached.
   */
  readonly max_age_s: number
  /**
   * Most invocations to keep; beyond it the oldest of the caller that has most are removed. The server holds about 2 KiB of memory for each.
   */
  readonly max_invocations: number
  /**
   * Most bytes of events of one invocation, before compression. Further events are acknowledged, only their numbers and the end of the stream are kept, and the page of the invocation says how many were left out.
   */
  readonly max_invocation_bytes: number
  /**
   * A stream that brings no event for so long is ended, and the client may open it again. A build that never comes back is shown as incomplete.
   */
  readonly max_silence_s: number
}

/**
 * Takes build events as `build_events` does, with settings from a store: the folder is that of its `filesystem` store with `-build-events` behind its name, and the limits are those of its `eviction_policy`. The store itself receives nothing. Use `build_events` for new configurations.
 */
export interface ExperimentalBepServiceOptions {
  /**
   * A store that is or contains a `filesystem` store.
   */
  readonly store: string
}

/**
 * Settings of the whole process.
 */
export interface GlobalOptions {
  /**
   * Digest function of requests that name none and whose hash fits several.
   */
  readonly default_digest_hash_function: 'SHA256' | 'BLAKE3' | 'SHA384' | 'SHA512' | 'SHA1' | 'MD5' | 'GITSHA1'
  /**
   * Digest functions clients may use.
   */
  readonly digest_functions: readonly ('SHA256' | 'BLAKE3' | 'SHA384' | 'SHA512' | 'SHA1' | 'MD5' | 'GITSHA1')[]
  /**
   * Lowest level that is logged.
   */
  readonly log_level: 'debug' | 'info' | 'warn' | 'error'
  /**
   * Fraction of calls, and of ended actions, that are logged at level info; each line states the fraction. 0.01 logs one in a hundred, chosen at random. At level debug all of them are logged. An action that failed for another reason than its command is always logged. A call that the server failed is logged at every level.
   */
  readonly log_call_share: number
  /**
   * Count calls, completed executions and the work of stores per instance, by the label `instance_name` of `svc_rpc_duration`, `svc_execution_completed_count_total`, `svc_cache_operations_total` and `svc_cache_io_total`. The first 100 names get their own series, all others share one. Calls that name no instance, and work of the server itself, have an empty label.
   */
  readonly metrics_instance_names: boolean
  /**
   * Count completed executions per action, by the label `execution_action_digest` of the metrics. The first 1,000 actions get their own series, all others share one. This makes many series: turn it on for a while, to investigate one action.
   */
  readonly metrics_action_digests: boolean
  /**
   * Seconds from a stop signal (SIGTERM, SIGINT, or SIGHUP from a closed terminal) to the end of the process, at most; below 4 it may take 4. Calls and actions in flight get all of it but the last 2 seconds (a quarter, when that is less); then they are cancelled and the stores are closed. The server does not wait for idle workers and connections. A start that is not complete by then is aborted. A second signal ends the process at once. Container managers kill after 10 or 30 seconds: keep this below.
   */
  readonly drain_s: number
  /**
   * Service threads: how many threads besides the main one have connections of gRPC clients, each with TLS, HTTP/2 and gRPC of its own; `cores` means one for each core of this machine. 1 means that the main thread does everything. HTTP/1.1, HTTP caches over it included, stays with the main thread, and so do the connections of a server whose calls they would not serve. Needs koffi and `transport: "remexec"`. docs/threads.md says what runs where, and what it costs.
   */
  readonly threads: number
  /**
   * Do not count calls, store operations or scheduler events, export no metrics, and leave these numbers out of the status page.
   */
  readonly disable_metrics: boolean
}

/**
 * The address of a server and its transport settings.
 */
export interface ListenerOptions {
  /**
   * `host:port`. The host may be a name; without it the server listens on every address of the machine. Port 0 takes any free port. Or `unix:/path`: a socket of this machine, without TLS; a socket that nobody listens on is replaced.
   */
  readonly socket_address: string
  /**
   * Permissions of the socket of `unix:/path`: who may write to it may connect. It has the group of the process, or that of its folder if the folder has the setgid bit.
   */
  readonly unix_socket_mode: string
  /**
   * The implementation of gRPC on this listener: `remexec`, which needs far less CPU, or the library `grpc-js`, as a fallback if the first has a fault. docs/transport.md compares them.
   */
  readonly transport: 'remexec' | 'grpc-js'
  /**
   * Compression of gRPC messages, apart from the compressed blobs of the protocol.
   */
  readonly compression: ListenerCompression
  /**
   * Most connections at a time; 0 means no limit. A further one is closed at once, before any byte is read, and logged.
   */
  readonly max_connections: number
  /**
   * Most connections at a time from one address; 0 means no limit. Set it to 0, or higher, if many clients share an address, behind a proxy or NAT.
   */
  readonly max_connections_per_address: number
  /**
   * How long a request message may stay incomplete while the server waits for it: the only message of most calls, each message of an upload. After that the call ends with DEADLINE_EXCEEDED; an upload can be resumed. Over HTTP a body must bring 64 KiB in this time, and a client take 256 KiB of an answer. 0 means no limit. Needs `transport: "remexec"`.
   */
  readonly request_timeout_s: number
  /**
   * HTTP/2 settings of the listener, for `transport: "remexec"`. docs/transport.md describes what they limit.
   */
  readonly advanced_http: AdvancedHttp
  /**
   * Largest message a client may send.
   */
  readonly max_decoding_message_size: number
  /**
   * Serve with TLS on the whole port: gRPC and HTTP pages. Changed files are read again within 5 seconds and apply to new connections; open ones stay.
   */
  readonly tls?: ListenerTls
}

/**
 * Compression of gRPC messages, apart from the compressed blobs of the protocol.
 */
export interface ListenerCompression {
  /**
   * Compressions of responses, for clients that accept them. This costs about 20 ms of CPU per MiB. Blobs that a client reads compressed are not compressed again. `gzip` needs `transport: "remexec"`.
   */
  readonly send_compression_algorithm: 'none' | 'gzip'
  /**
   * Compressions accepted in requests; others are rejected with UNIMPLEMENTED. An empty list accepts none. `transport: "grpc-js"` always accepts gzip and deflate.
   */
  readonly accepted_compression_algorithms: readonly ('none' | 'gzip' | 'deflate')[]
}

/**
 * HTTP/2 settings of the listener, for `transport: "remexec"`. docs/transport.md describes what they limit.
 */
export interface AdvancedHttp {
  /**
   * Seconds without a byte from the client before the server sends a PING; 0 never sends one.
   */
  readonly http2_keep_alive_interval: number
  /**
   * Streams that a client may reset or break at once. A connection also gets 200 a second, and one for each answered stream. A connection that exceeds this is closed.
   */
  readonly experimental_http2_max_pending_accept_reset_streams: number
  /**
   * Bytes that a client may send on a stream before they are read.
   */
  readonly experimental_http2_initial_stream_window_size: number
  /**
   * Bytes that a client may send on all streams of a connection before they are read.
   */
  readonly experimental_http2_initial_connection_window_size: number
  /**
   * The largest frame that is accepted: 16,384 bytes, no other value. Larger frames save nothing.
   */
  readonly experimental_http2_max_frame_size: number
  /**
   * Most calls at a time on a connection, including cancelled calls that have not ended yet.
   */
  readonly experimental_http2_max_concurrent_streams: number
  /**
   * How long the answer to a PING may take before the connection is closed.
   */
  readonly experimental_http2_keep_alive_timeout_s: number
  /**
   * Bytes that may wait for the socket of a connection before the server stops producing responses for it.
   */
  readonly experimental_http2_max_send_buf_size: number
  /**
   * Most bytes of request header fields, counted as in RFC 9113, 6.5.2; larger requests get 431.
   */
  readonly experimental_http2_max_header_list_size: number
}

/**
 * Serve with TLS on the whole port: gRPC and HTTP pages. Changed files are read again within 5 seconds and apply to new connections; open ones stay.
 */
export interface ListenerTls {
  /**
   * PEM certificate of this server, followed by its intermediate certificates.
   */
  readonly cert_file: string
  /**
   * PEM key of the certificate, without a password. Only the user of this process should be able to read it.
   */
  readonly key_file: string
  /**
   * PEM file of authorities. If set, every client needs a certificate from one of them.
   */
  readonly client_ca_file?: string
  /**
   * PEM file with the revocation lists of all authorities in `client_ca_file`, each still valid. Clients with a revoked certificate are rejected.
   */
  readonly client_crl_file?: string
  /**
   * Accept clients without a certificate although `client_ca_file` is set. An invalid certificate is rejected either way.
   */
  readonly client_certificates: 'required' | 'optional'
  /**
   * The lowest accepted TLS version.
   */
  readonly min_version: '1.2' | '1.3'
}

/**
 * Settings of one instance, whichever server and service it is reached by.
 */
export interface InstanceOptions {
  /**
   * The name of the instance, as in the services.
   */
  readonly instance_name: string
  /**
   * Separate its blobs and results from those of other instances that use the same stores. An instance then finds only its own content, whatever digest is asked for, and content uploaded by several instances is stored once for each. Every instance that uses these stores must be isolated. Left out: a caller that knows the digest of a blob can read the blob.
   */
  readonly isolate: boolean
  /**
   * An instance whose results and entries are read where this one has none, and which this one never changes: an instance for each branch, as `pr-17` with the parent `main`. Both need the same `cas_store`, and neither is isolated.
   */
  readonly parent?: string
  /**
   * Most bytes that this instance keeps in each of the stores it shares. Above that its own least recently used blobs are evicted. A blob that does not fit at all is rejected with RESOURCE_EXHAUSTED, and so are concurrent uploads that exceed the limit together. Needs an isolated instance, because a shared blob has no owner. Counting starts with the process; older blobs count from their first use.
   */
  readonly max_stored_bytes?: number
  /**
   * Keep what this instance uploads, reads or finds for at least this long, if its stores promise less (`retention` of `memory` and `filesystem`, `key_ttl_s` of `redis_store`). Take it for builds that take longer than the others', such as releases; not for every instance, because then the store itself should promise more. Left out: what the stores promise.
   */
  readonly retention?: number
  /**
   * The largest blob that a client may upload to this instance. A larger one is rejected with INVALID_ARGUMENT before its content is read; GetCapabilities announces the limit (max_cas_blob_size_bytes). Take it if single outputs, such as disk images, push everything else out of a small cache: clients then keep such outputs to themselves. Outputs of actions on workers are not limited by it. Left out: a blob may be as large as its store allows.
   */
  readonly max_blob_size?: number
}

/**
 * Which callers may call, and what each may do, on every server of the process. Left out: every caller may do everything. docs/security.md explains it.
 */
export interface SecurityOptions {
  /**
   * How callers are identified. The server checks credentials in this order: `identity_header`, the `authorization` header (a token of this server, then a JWT, or a name and password), a client certificate. The first one present decides. Callers with invalid credentials are rejected; callers without credentials are anonymous.
   */
  readonly identity: IdentitySources
  /**
   * The rules of access. Each rule adds permissions; none removes any. Left out: every identified caller may use all caches and execution, and anonymous callers nothing.
   */
  readonly access?: readonly AccessRule[]
  /**
   * Which callers write apart: builds of branches and pull requests, which everybody who may open one controls. A caller with a scope reads its own results and entries first, then those of the instance, and writes only its own; a caller without one is trusted. docs/branches.md explains it.
   */
  readonly scopes: ScopeOptions
  /**
   * Limits on the requests of callers. The first entry that matches a caller applies, and counts each name separately. Anonymous callers and callers with invalid credentials are counted by address. Requests above the limit are rejected with RESOURCE_EXHAUSTED, which says when to retry.
   */
  readonly request_limits: readonly RequestLimit[]
  /**
   * Readers of a result's origin: the caller that requested it or stored it in the action cache, and the identity of the worker that ran it. They are the callers that may `administer` the instance, all callers that may read its results, or none; then the origin is not stored. It is `remexec.scheduler.v1.ResultOrigin` in the result's metadata.
   */
  readonly callers_in_results: 'administrators' | 'readers' | 'nobody'
  /**
   * Write an audit log: caller, request, time, and decision, one line of JSON per call, and one for each result of a worker that the action cache kept. It leaves out health and reflection, which are open. It contains names of callers, never their credentials.
   */
  readonly audit_log?: AuditLog
}

/**
 * How callers are identified. The server checks credentials in this order: `identity_header`, the `authorization` header (a token of this server, then a JWT, or a name and password), a client certificate. The first one present decides. Callers with invalid credentials are rejected; callers without credentials are anonymous.
 */
export interface IdentitySources {
  /**
   * Trust a proxy that has authenticated the caller.
   */
  readonly identity_header?: IdentityHeader
  /**
   * Tokens that callers send as `authorization: Bearer TOKEN`; `remexec token NAME` creates one.
   */
  readonly tokens: readonly AccessToken[]
  /**
   * File with more tokens: one line `NAME SHA256 [GROUP,GROUP...] [scope=SCOPE]` each. A changed file is read again within 5 seconds.
   */
  readonly tokens_file?: string
  /**
   * Issuers of JSON Web Tokens that callers send as `authorization: Bearer TOKEN`. Only asymmetric signatures are accepted.
   */
  readonly jwt: readonly JwtIssuer[]
  /**
   * An identity provider (OpenID Connect) that readers of the pages log in with, besides the other ways. A session then stands for who they are: it lasts for `session_s` of the pages, and the rules of access hold for it as for a JWT (`by: ["jwt"]`). Register the client there as a web application with the authorization code flow, and `ADDRESS/login/callback` as the address to come back to, where ADDRESS is `address` and `path` of `services.pages`.
   */
  readonly oidc?: OidcProvider
  /**
   * Names and passwords for `authorization: Basic`, as `htpasswd -B` writes them (bcrypt only). A changed file is read again within 5 seconds.
   */
  readonly htpasswd_file?: string
  /**
   * Use the certificate that `listener.http.tls` requests as the caller's identity.
   */
  readonly client_certificates?: CertificateIdentity
}

/**
 * Trust a proxy that has authenticated the caller.
 */
export interface IdentityHeader {
  /**
   * The header with the name of the caller, in lower case.
   */
  readonly name: string
  /**
   * The header with the caller's groups, separated by commas.
   */
  readonly groups_name?: string
  /**
   * Addresses of the proxies, each `address` or `address/prefix`, or `unix` for those that connect by a unix socket. From other addresses the headers are ignored.
   */
  readonly trusted: readonly string[]
}

export interface AccessToken {
  /**
   * The name of the caller.
   */
  readonly name: string
  /**
   * SHA-256 of the token, 64 hex digits.
   */
  readonly sha256: string
  /**
   * The groups of the caller.
   */
  readonly groups: readonly string[]
  /**
   * The scope of the caller in every instance, in place of the rules of `scopes`.
   */
  readonly scope?: string
}

export interface JwtIssuer {
  /**
   * The required value of `iss`.
   */
  readonly issuer: string
  /**
   * The accepted values of `aud`: one of them must occur.
   */
  readonly audiences: readonly string[]
  /**
   * Address of the issuer's keys. Left out with `jwks_file`: the address in its `/.well-known/openid-configuration`.
   */
  readonly jwks_uri?: string
  /**
   * A file with the keys. A changed file is read again within 5 seconds.
   */
  readonly jwks_file?: string
  /**
   * The claim with the name of the caller.
   */
  readonly name_claim: string
  /**
   * The claim with the caller's groups: a list, or words in one text.
   */
  readonly groups_claim: string
  /**
   * Seconds by which the clocks may differ.
   */
  readonly clock_skew_s: number
}

/**
 * An identity provider (OpenID Connect) that readers of the pages log in with, besides the other ways. A session then stands for who they are: it lasts for `session_s` of the pages, and the rules of access hold for it as for a JWT (`by: ["jwt"]`). Register the client there as a web application with the authorization code flow, and `ADDRESS/login/callback` as the address to come back to, where ADDRESS is `address` and `path` of `services.pages`.
 */
export interface OidcProvider {
  /**
   * The address of the provider, as in its `/.well-known/openid-configuration`.
   */
  readonly issuer: string
  /**
   * What the provider calls these pages.
   */
  readonly client_id: string
  /**
   * The secret of the client. Left out for a public client, which is protected by PKCE alone.
   */
  readonly client_secret?: string
  /**
   * What the link to it says: `Log in with LABEL`.
   */
  readonly label: string
  /**
   * What to ask for besides `openid`. The scope for groups differs between providers.
   */
  readonly scopes: readonly string[]
  /**
   * The claim with the name of the reader.
   */
  readonly name_claim: string
  /**
   * The claim with the groups of the reader: a list, or words in one text. The provider is asked for its userinfo if the ID token lacks one of the two.
   */
  readonly groups_claim: string
  /**
   * Seconds by which the clocks may differ.
   */
  readonly clock_skew_s: number
}

/**
 * Use the certificate that `listener.http.tls` requests as the caller's identity.
 */
export interface CertificateIdentity {
  /**
   * The part of the certificate that is the name: the common name of its subject, or its first alternative name of this kind.
   */
  readonly name: 'common_name' | 'dns' | 'uri' | 'email'
  /**
   * The part of its subject that holds the groups.
   */
  readonly groups: 'none' | 'organization' | 'organizational_unit'
}

export interface AccessRule {
  /**
   * The permissions: read and write blobs and results, execute actions, be a worker, be a server that hands in the actions of its own callers (`forward`: who has it speaks for all callers of these instances), see and list the work of others.
   */
  readonly may: readonly (
    'read_cas' | 'write_cas' | 'read_ac' | 'write_ac' | 'execute' | 'push' | 'work' | 'forward' | 'administer'
  )[]
  /**
   * The instances, as patterns: `*` stands for any text.
   */
  readonly instances: readonly string[]
  /**
   * The schedulers for which it may `work`, as patterns.
   */
  readonly schedulers: readonly string[]
  /**
   * Every caller, identified or anonymous. The four keys below select identified callers; each key that is given must match.
   */
  readonly anonymous: boolean
  /**
   * Callers whose name matches one of these patterns.
   */
  readonly names?: readonly string[]
  /**
   * Callers with a group that matches one of these patterns.
   */
  readonly groups?: readonly string[]
  /**
   * Callers whose JWT has these claims. Each is a pattern for its value, or for one of its values.
   */
  readonly claims?: ReadonlyMap<string, string>
  /**
   * Callers identified by one of these sources, because several can issue the same name.
   */
  readonly by?: readonly ('header' | 'token' | 'jwt' | 'basic' | 'certificate')[]
}

/**
 * Which callers write apart: builds of branches and pull requests, which everybody who may open one controls. A caller with a scope reads its own results and entries first, then those of the instance, and writes only its own; a caller without one is trusted. docs/branches.md explains it.
 */
export interface ScopeOptions {
  /**
   * The first rule that is for a caller and an instance gives its scope. A caller that no rule is for is trusted.
   */
  readonly rules: readonly ScopeRule[]
  /**
   * The most bytes that one scope keeps in an action cache: its results and entries, and the files that they name. Above that its own least recently used results and entries are removed; nothing is refused.
   */
  readonly max_bytes: number
  /**
   * A scope that nothing used for so many days is given back: it begins empty when its caller comes again.
   */
  readonly scope_days: number
}

export interface ScopeRule {
  /**
   * The scope. `{claims.NAME}` stands for a claim of the JWT, `{name}` for the name of the caller, `{instance}` for the instance that it names. A caller without the claim gets a scope of its own. An empty text: the caller is trusted.
   */
  readonly scope: string
  /**
   * Claims by which a JWT is trusted in spite of this rule: all of them must match, as in `claims`.
   */
  readonly unless?: ReadonlyMap<string, string>
  /**
   * The instances, as patterns: `*` stands for any text.
   */
  readonly instances: readonly string[]
  /**
   * Every caller, identified or anonymous. The four keys below select identified callers; each key that is given must match.
   */
  readonly anonymous: boolean
  /**
   * Callers whose name matches one of these patterns.
   */
  readonly names?: readonly string[]
  /**
   * Callers with a group that matches one of these patterns.
   */
  readonly groups?: readonly string[]
  /**
   * Callers whose JWT has these claims. Each is a pattern for its value, or for one of its values.
   */
  readonly claims?: ReadonlyMap<string, string>
  /**
   * Callers identified by one of these sources, because several can issue the same name.
   */
  readonly by?: readonly ('header' | 'token' | 'jwt' | 'basic' | 'certificate')[]
}

export interface RequestLimit {
  /**
   * Requests per second, on average. Each call is one, however much it transfers.
   */
  readonly requests_per_s: number
  /**
   * Requests at once after a time without any.
   */
  readonly burst: number
  /**
   * Every caller, identified or anonymous. The four keys below select identified callers; each key that is given must match.
   */
  readonly anonymous: boolean
  /**
   * Callers whose name matches one of these patterns.
   */
  readonly names?: readonly string[]
  /**
   * Callers with a group that matches one of these patterns.
   */
  readonly groups?: readonly string[]
  /**
   * Callers whose JWT has these claims. Each is a pattern for its value, or for one of its values.
   */
  readonly claims?: ReadonlyMap<string, string>
  /**
   * Callers identified by one of these sources, because several can issue the same name.
   */
  readonly by?: readonly ('header' | 'token' | 'jwt' | 'basic' | 'certificate')[]
}

/**
 * Write an audit log: caller, request, time, and decision, one line of JSON per call, and one for each result of a worker that the action cache kept. It leaves out health and reflection, which are open. It contains names of callers, never their credentials.
 */
export interface AuditLog {
  /**
   * The file. Its folder must exist. If the file is moved away, the server opens a new one within 5 seconds.
   */
  readonly path: string
  /**
   * All calls, and each result of a worker that was kept; or only rejected calls.
   */
  readonly calls: 'all' | 'refused'
  /**
   * A file of this length becomes `path.1`, which becomes `path.2`, and so on.
   */
  readonly max_bytes: number
  /**
   * Older files to keep.
   */
  readonly max_files: number
}
