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
   * When entries are dropped; without it nothing is.
   */
  readonly eviction_policy: EvictionPolicy
}

/**
 * When a store gives up entries. The least recently used go first; without any limit nothing is ever evicted.
 */
export interface EvictionPolicy {
  /**
   * Most bytes the store keeps; 0 means no limit. In a `memory` store uploads under way may hold as much again, all of them together.
   */
  readonly max_bytes: number
  /**
   * Once `max_bytes` is passed, eviction goes on until this many bytes below it are free, so that not every later write has to evict.
   */
  readonly evict_bytes: number
  /**
   * Entries nobody used for this long, in seconds, are dropped; 0 keeps them.
   */
  readonly max_seconds: number
  /**
   * Most entries the store keeps; 0 means no limit.
   */
  readonly max_count: number
}

/**
 * Keeps large blobs as files and small ones together in a log, and finds them again after a restart, with their recency. The store for anything bigger than memory, and the only one a worker can link inputs from.
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
   * Bytes read from a file at a time, at first, where it passes checks, compression or another store on its way: a reader that keeps up gets up to 256 KiB. A file that goes out as it is is read by 64 to 256 KiB, as its client has room.
   */
  readonly read_buffer_size: number
  /**
   * When entries are dropped; without it nothing is.
   */
  readonly eviction_policy: EvictionPolicy
  /**
   * A file counts as its size rounded up to this many bytes, as the disk sees it. A small blob counts as its record and a third more, for room that is not given back yet.
   */
  readonly block_size: number
  /**
   * Most writes to files under way at one time; further ones wait. 0 means no limit. An upload whose client is quiet counts for none.
   */
  readonly max_concurrent_writes: number
  /**
   * What a finished upload survives. `process_exit`: every end of the server, kill -9 included; a power loss may take the last seconds of uploads, and what it cuts short is noticed and is a miss. `power_loss`: that as well, because the file and its folder are synced to the disk before an upload is answered.
   */
  readonly durability: 'process_exit' | 'power_loss'
  /**
   * Blobs of up to this many bytes are kept together in a log, larger ones as a file each: writing a file costs several times as much, and a worker links to one instead of copying it. 0 keeps every blob as a file; at most 1 MiB.
   */
  readonly small_blob_size: number
  /**
   * Memory for small blobs of up to 16 KiB that were read lately: above all actions and their results. 0 keeps none.
   */
  readonly small_blob_cache_size: number
  /**
   * How much is read again each second, behind the back of all calls, and compared with the checksum it was written with. A damaged blob is told of in the log and is a miss until somebody uploads it again. 0 reads nothing again; what is damaged is then found when it is first read after a start, small blobs at every read.
   */
  readonly scrub_bytes_per_s: number
}

/**
 * Two tiers: a quick store in front of the one that counts. Uploads go to both, reads fill the fast one, and whether a blob exists is what the slow one says (unless that is `noop`). A fast store that fails fails no read: the rest of the blob then comes from the slow one. Of bytes that turn out wrong only at their end (a large file that the disk changed, say) the reader gets no whole blob but DATA_LOSS once; the copy is dropped, and the next reader gets it from the slow store. Small blobs are compared before any byte of them is sent.
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
   * What reaches the fast store: `both` uploads and fills from reads, `update` uploads only, `get` fills from reads only, `read_only` nothing.
   */
  readonly fast_direction: 'both' | 'update' | 'get' | 'read_only'
  /**
   * What reaches the slow store: `both` uploads and fills from reads, `update` uploads only, `get` fills from reads only, `read_only` nothing.
   */
  readonly slow_direction: 'both' | 'update' | 'get' | 'read_only'
  /**
   * Blobs of at least this size are read straight from the slow store and do not fill the fast one; 0 turns this off.
   */
  readonly bypass_dedup_threshold_bytes: number
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
 * Zstandard in independent frames. A client that reads or uploads zstd (`compressed-blobs/zstd`) gets and gives the bytes as they are stored: nothing is compressed twice. So it is through `verify`, and through `fast_slow` where the slow store compresses so, or the fast one over `noop`.
 */
export interface Zstd {
  /**
   * Uncompressed bytes in a frame: a part of a blob is read without decoding the frames before it.
   */
  readonly block_size: number
  /**
   * Compression level, from 1 (quickest) to 19.
   */
  readonly level: number
  /**
   * Largest frame of a compressed upload, in uncompressed bytes, that is kept as the client made it. It saves compressing the blob anew; in exchange a part of the blob is read by decoding up to so many bytes before it. 0 always compresses anew, in frames of `block_size`.
   */
  readonly max_uploaded_frame_size: number
}

/**
 * Cuts blobs into content-defined chunks (FastCDC), so that what similar blobs have in common is kept once. A blob is there while all its chunks are. For large blobs that change little by little; small ones cost two entries each, so let `size_partitioning` keep those elsewhere.
 */
export interface DedupOptions {
  /**
   * Keeps the list of chunks of each blob, under the digest of the blob. Another store than `content_store`.
   */
  readonly index_store: StoreConfig
  /**
   * Keeps the chunks, under their own digests.
   */
  readonly content_store: StoreConfig
  /**
   * Smallest chunk but the last of a blob; at least 64 bytes, and at most `normal_size`.
   */
  readonly min_size: number
  /**
   * Size aimed at, from 256 bytes to 8 MiB. Changing a size keeps what is there readable; new blobs share less with it.
   */
  readonly normal_size: number
  /**
   * Largest chunk; at least `normal_size`, and at most 32 MiB. Each is held in memory as a whole.
   */
  readonly max_size: number
  /**
   * Chunks fetched ahead while a blob is read, with at most 4 MiB together.
   */
  readonly max_concurrent_fetch_per_get: number
}

/**
 * Checks blobs against their digest on the way out of a backend that may be damaged. Uploads from clients are always checked, with or without this store.
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
 * Remembers which blobs the backend has, and asks it for the others only. For a backend where asking is slow. What is found gone when it is read or removed through here is forgotten at once.
 */
export interface ExistenceCacheOptions {
  /**
   * The store that is asked.
   */
  readonly backend: StoreConfig
  /**
   * When the backend is asked again. What it said first is forgotten first.
   */
  readonly eviction_policy: ExistencePolicy
}

/**
 * When the backend is asked again. What it said first is forgotten first.
 */
export interface ExistencePolicy {
  /**
   * Most bytes that all blobs remembered may have together; 0 means no limit.
   */
  readonly max_bytes: number
  /**
   * Once `max_bytes` is passed, forgetting goes on until this many bytes below it.
   */
  readonly evict_bytes: number
  /**
   * How long the backend is believed. Counted from its answer, not from the last use: the cache does not hear of what the backend evicts, nor of what other processes delete there, so this is how long a blob may be missed while it is still said to be there.
   */
  readonly max_seconds: number
  /**
   * Most blobs remembered, at about 80 bytes of memory each.
   */
  readonly max_count: number
}

/**
 * An action cache that has a result only while every output of it is still in the CAS. The ActionCache service does so with the CAS of its instance for an action cache that is not one of these itself: configure it where stores of other instances or a worker read the same entries.
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
 * Spreads blobs over several stores by digest and weight. Add a store at the end of the list: it then takes its share from the others, and nothing moves between those. What moved is a miss once.
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
   * Share relative to the other stores. 0 gives it none: so a store is taken away, as the places of the others must stay.
   */
  readonly weight: number
}

/**
 * Stands for another named store, so that several places share one.
 */
export interface RefStoreOptions {
  /**
   * The name of a store in `stores`; it may be defined further down.
   */
  readonly name: string
}

/**
 * Keeps nothing: uploads vanish, reads find nothing. The slow side of a `fast_slow` that has no second tier.
 */
export interface NoopOptions {}

/**
 * Another server of the remote execution API as a store: its CAS or its action cache. Nothing can be removed there: what `verify` finds damaged stays until that server finds it itself.
 */
export interface GrpcOptions {
  /**
   * The instance name sent to it.
   */
  readonly instance_name: string
  /**
   * Its addresses. Calls take their connections in turn, those that stand first.
   */
  readonly endpoints: readonly GrpcEndpoint[]
  /**
   * Which of its services is used. Blobs of a `cas` are those of their digests, so that neither `compression` nor the `index_store` of a `dedup` may stand on one.
   */
  readonly store_type: 'cas' | 'ac'
  /**
   * How failed calls are tried again.
   */
  readonly retry: Retry
  /**
   * Most requests at one time, transfers until their last byte; 0 means no limit. Further ones wait.
   */
  readonly max_concurrent_requests: number
  /**
   * Connections to each address.
   */
  readonly connections_per_endpoint: number
  /**
   * Seconds a call may take, and each part of a transfer; 0 means no limit but the HTTP/2 pings.
   */
  readonly rpc_timeout_s: number
  /**
   * Leave the digest function out of byte stream names, for servers that do not know it. Those of SHA256 never have it.
   */
  readonly use_legacy_resource_names: boolean
  /**
   * Metadata sent with every call.
   */
  readonly headers: ReadonlyMap<string, string>
  /**
   * Names of metadata of the client that is passed on with its calls. Calls of several clients are then not joined into batches.
   */
  readonly forward_headers: readonly string[]
  /**
   * How small blobs that are read or written at the same time are joined into one call. Left out, as with these defaults, but with `forward_headers`, which it must not stand beside.
   */
  readonly experimental_read_batching?: ReadBatching
  /**
   * Transfer larger blobs compressed with zstd where the other server announces it.
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
   * Needed with a TLS scheme and refused with a plain one.
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
   * Seconds between HTTP/2 pings while calls are under way.
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
   * PEM certificate shown to the other side; goes with `key_file`.
   */
  readonly cert_file?: string
  /**
   * PEM key of `cert_file`.
   */
  readonly key_file?: string
  /**
   * The name that the certificate of the other side must be for, where that is not the host of the address.
   */
  readonly server_name?: string
  /**
   * Trust the authorities this machine trusts.
   */
  readonly use_native_roots: boolean
}

/**
 * How a failed call to a remote backend is tried again. Beside that, what was lost with a connection before there was an answer is asked once more at once: backends close connections that nobody uses, as they are used again.
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
   * Seconds after the first attempt from when on no further one begins; 0 means no limit.
   */
  readonly budget_s: number
  /**
   * Status names that are tried again. Left out: Unknown, Cancelled, DeadlineExceeded, ResourceExhausted, Aborted, Internal, Unavailable and DataLoss.
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
 * How small blobs that are read or written at the same time are joined into one call. Left out, as with these defaults, but with `forward_headers`, which it must not stand beside.
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
   * Batches of reads, and of writes, at one time. What comes meanwhile makes the next ones.
   */
  readonly dispatch_slots: number
  /**
   * Most bytes waiting to be batched; blobs beyond that are transferred one by one.
   */
  readonly max_queued_bytes: number
}

/**
 * Keeps blobs in Redis, or a server that speaks its protocol, for machines that share a cache: action results and small blobs above all. What Redis evicts when its memory is used up is its own choice (`maxmemory-policy`).
 */
export interface RedisStoreOptions {
  /**
   * `redis://[username:password@]host[:port][/database]`, or `rediss://` for TLS: exactly one, in a `cluster` some of its nodes. For `sentinel` some of the sentinels: `redis+sentinel://host[:port][/database]?sentinelServiceName=name` (the name is `master` when left out; `sentinelUsername` and `sentinelPassword` are for the sentinels, what stands before `@` is for the servers).
   */
  readonly addresses: readonly string[]
  /**
   * How the servers are organised: one server, a server and its replicas watched by sentinels, or a cluster.
   */
  readonly mode: 'standard' | 'sentinel' | 'cluster'
  /**
   * Put before every key. Stores that share a Redis need one each: an action cache and a CAS above all. With a hash tag in it (`{builds}:`) a cluster keeps everything on one node.
   */
  readonly key_prefix: string
  /**
   * Milliseconds a command may take. A server that says nothing for so long counts as lost, and its connection is made anew.
   */
  readonly command_timeout_ms: number
  /**
   * Milliseconds an attempt to connect may take. The start waits once for so long; after that the server runs without its Redis until it answers.
   */
  readonly connection_timeout_ms: number
  /**
   * Milliseconds a health probe may take.
   */
  readonly health_check_timeout_ms: number
  /**
   * Blobs of up to so many bytes are one string in Redis; larger ones lie in a hash, in chunks of that size, which are read and written a few at a time. Blobs written with another size stay readable.
   */
  readonly read_chunk_size: number
  /**
   * Connections kept, in a cluster to each of its nodes. Commands share them.
   */
  readonly connection_pool_size: number
  /**
   * Seconds after its upload, or after the last FindMissingBlobs that found it, until Redis expires a blob; 0 means never.
   */
  readonly key_ttl_s: number
  /**
   * Chunks of one upload on their way at one time.
   */
  readonly max_chunk_uploads_per_update: number
  /**
   * Most requests at one time; further ones wait.
   */
  readonly max_client_permits: number
  /**
   * How failed calls are tried again.
   */
  readonly retry: Retry
  /**
   * In place of `connection_timeout_ms`, which it must not stand beside: the same in seconds.
   */
  readonly connection_timeout_s?: number
}

/**
 * Keeps blobs as documents of MongoDB, large ones in chunks: for machines that share a cache and have such a server anyway.
 */
export interface ExperimentalMongoOptions {
  /**
   * Where the database is, and as whom to go there: `mongodb://[username:password@]host[:port][,...][/?options]` or `mongodb+srv://`. Times and retries are those of the keys here, whatever its options say of them, and so is the write concern where `write_concern_w` says one.
   */
  readonly connection_string: string
  /**
   * Name of the database.
   */
  readonly database: string
  /**
   * Collection of the blobs; the chunks of large ones are in another one, with `.chunks` behind that name, and in a third, `.orphans`, stands which of those are of no blob.
   */
  readonly cas_collection: string
  /**
   * Put before every key. Stores that share a collection need one each: an action cache and a CAS above all.
   */
  readonly key_prefix: string
  /**
   * Blobs of up to so many bytes are one document, larger ones are documents of so many; at most 15 MiB.
   */
  readonly read_chunk_size: number
  /**
   * Milliseconds connecting may take, and finding a server that takes writes.
   */
  readonly connection_timeout_ms: number
  /**
   * Milliseconds a command may take.
   */
  readonly command_timeout_ms: number
  /**
   * How many servers of a replica set have to have a blob before it counts as written: a number, or `majority`. Left out: what the server has for it.
   */
  readonly write_concern_w?: string
  /**
   * Whether they have to have it in their journals; needs `write_concern_w`.
   */
  readonly write_concern_j?: boolean
  /**
   * Milliseconds after which that fails; needs `write_concern_w`.
   */
  readonly write_concern_timeout_ms?: number
  /**
   * Most requests at one time. Left out or 0: no limit.
   */
  readonly max_requests?: number
}

/**
 * Keeps each blob as an object in a bucket. Credentials come from where the provider's own library looks for them, unless keys here give them. Give a bucket that speaks S3 a lifecycle rule that aborts incomplete multipart uploads after a day: one that was begun is known to nobody when the answer is lost, or the process killed.
 */
export interface ExperimentalCloudObjectStoreOptions {
  /**
   * Whose object store it is; decides which of the other fields apply.
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
   * Refuse to start without credentials (gcs); else requests are sent without any where none are found.
   */
  readonly authentication_required: boolean
  /**
   * Seconds connecting may take (gcs).
   */
  readonly connection_timeout_s: number
  /**
   * Seconds a read may stand still (gcs).
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
   * Address of the service: ontap needs it; elsewhere it takes the place of the provider's own, for another server that speaks its protocol. Left out with aws: `AWS_ENDPOINT_URL_S3`.
   */
  readonly endpoint?: string
  /**
   * Virtual server, which stands for the region (ontap).
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
   * Key id (r2, oci). Left out: where Amazon's library looks, `AWS_ACCESS_KEY_ID` first.
   */
  readonly access_key_id?: string
  /**
   * Secret of the key (r2, oci); goes with `access_key_id`.
   */
  readonly secret_access_key?: string
  /**
   * Put before every key as it stands; what is kept under different prefixes never meets.
   */
  readonly key_prefix: string
  /**
   * How failed calls are tried again.
   */
  readonly retry: Retry
  /**
   * Objects older than this many seconds count as missing, so that a rule of the bucket may delete them; 0 means never.
   */
  readonly consider_expired_after_s: number
  /**
   * Largest body of one request of an upload, which is kept to repeat it; larger blobs go in parts of this size. Never less than what the provider takes for a part (5 MiB with S3). Left out: 5 MB, with ontap 20 MB. With gcs parts are `resumable_chunk_size`.
   */
  readonly max_retry_buffer_per_request?: number
  /**
   * Parts being sent at one time, of all uploads together; each takes the memory of a part.
   */
  readonly multipart_max_concurrent_uploads: number
  /**
   * Allow an address with `http://`.
   */
  readonly insecure_allow_http: boolean
}

/**
 * An ONTAP object store (as `experimental_cloud_object_store` with `provider: 'ontap'`) behind a list of its keys, so that what it has is not asked for. The list is kept in a file over restarts and made anew from time to time; what is not in it is asked for. What others delete there is missed until the next list is made. For a CAS; results of actions are asked for each time.
 */
export interface OntapS3ExistenceCacheOptions {
  /**
   * File of the list; each store needs one of its own. It may be deleted while the server is stopped.
   */
  readonly index_path: string
  /**
   * Seconds from the end of one listing to the begin of the next: how long a blob that others deleted may be missed while it is still said to be there.
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
   * Virtual server, which stands for the region.
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
   * Put before every key as it stands.
   */
  readonly key_prefix: string
  /**
   * How failed calls are tried again.
   */
  readonly retry: Retry
  /**
   * Objects older than this many seconds count as missing; 0 means never.
   */
  readonly consider_expired_after_s: number
  /**
   * Largest body of one request of an upload, which is kept to repeat it; larger blobs go in parts of this size.
   */
  readonly max_retry_buffer_per_request: number
  /**
   * Parts being sent at one time, of all uploads together; each takes the memory of a part.
   */
  readonly multipart_max_concurrent_uploads: number
  /**
   * Allow an address with `http://`.
   */
  readonly insecure_allow_http: boolean
}

/**
 * Labels the cache metrics of its backend. Every store is counted without it.
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
   * The platform properties actions may ask for, and how each is matched: `exact` wants the same value, `minimum` a number at least as large (and the worker gives that much away while the action runs), `priority` only that the worker has the property, `ignore` nothing. `'*'` says how every property that is not listed is matched; without it an action that asks for one is refused. `persistentWorkerKey` and `persistentWorkerProtocol`, which Bazel adds by itself, are taken and match every worker unless they are listed.
   */
  readonly supported_platform_properties: ReadonlyMap<string, 'minimum' | 'exact' | 'priority' | 'ignore'>
  /**
   * Seconds a finished operation can still be asked for with WaitExecution or GetOperation.
   */
  readonly retain_completed_for_s: number
  /**
   * Seconds an operation goes on without any client listening to it; then it is cancelled.
   */
  readonly client_action_timeout_s: number
  /**
   * Seconds without a keepalive after which a worker counts as lost and its actions are queued again.
   */
  readonly worker_timeout_s: number
  /**
   * Seconds without news from the worker that runs an action after which the action is queued again, as a used attempt; 0 turns this off.
   */
  readonly max_action_executing_timeout_s: number
  /**
   * Seconds a worker has to confirm that it stopped an action; then the worker is removed.
   */
  readonly unacknowledged_kill_timeout_s: number
  /**
   * How often an action is tried again after a lost worker, an internal error of a worker or `max_action_executing_timeout_s`; one failure more returns the last error. 0 means no retry.
   */
  readonly max_job_retries: number
  /**
   * Which fitting worker gets an action: the one idle longest spreads the load, the one used last keeps its inputs warm.
   */
  readonly allocation_strategy: 'least_recently_used' | 'most_recently_used'
  /**
   * Seconds between log lines about actions that no worker matches; 0 or -1 turns them off.
   */
  readonly worker_match_logging_interval_s: number
  /**
   * Seconds between matching passes that run even when nothing has changed; 0 or less turns them off.
   */
  readonly fallback_match_interval_s: number
  /**
   * Seconds an action stays queued while no connected worker could ever run it; then the client gets FAILED_PRECONDITION with what was asked and what workers offer. 0 waits for ever.
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
   * Seconds of waiting that count as much as one step of priority, so that what is not urgent is not passed by for ever. 0: they count nothing.
   */
  readonly priority_ageing_s: number
  /**
   * Seconds after a start in which workers may go on with what the scheduler before this one had given them, for clients that come back. Later they are told to stop that, and with 0 always: then a restart runs such actions again.
   */
  readonly adopt_attempts_for_s: number
  /**
   * Seconds an action that asks for a `minimum` waits before one worker that could run it is given nothing else until it has room. 0: never.
   */
  readonly hold_worker_after_s: number
}

/**
 * Forwards executions to another scheduler.
 */
export interface GrpcSchedulerOptions {
  /**
   * Where it is.
   */
  readonly endpoint: GrpcEndpoint
  /**
   * How failed calls are tried again.
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
   * The scheduler that gets the actions afterwards.
   */
  readonly scheduler: SchedulerConfig
}

/**
 * Changes the platform properties of actions on their way in.
 */
export interface PropertyModifierSchedulerOptions {
  /**
   * The changes, applied in order.
   */
  readonly modifications: readonly (
    {readonly add: PropertyAddition} | {readonly remove: string} | {readonly replace: PropertyReplacement}
  )[]
  /**
   * The scheduler that gets the actions afterwards.
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
 * Raises the resources an action asks for to what it needed before.
 */
export interface HistoricalResourceSchedulerOptions {
  /**
   * JSON file with what earlier actions needed.
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
   * The scheduler that gets the actions afterwards.
   */
  readonly scheduler: SchedulerConfig
}

/**
 * A worker on this machine: where a server of the file serves its worker API a process of its own, which that server starts, starts again when it dies, and takes with it when it ends. It talks to the scheduler over the network like any other worker, and has the files of its store without their bytes going through the server.
 */
export interface LocalWorkerOptions {
  /**
   * Start of the id under which the worker appears in logs and metrics. Left out: `worker_` and its place in the list.
   */
  readonly name: string
  /**
   * Where the worker API of the scheduler is.
   */
  readonly worker_api_endpoint: WorkerApiEndpoint
  /**
   * Longest time in seconds an action may ask for, and what it gets when it asks for none. The default is a day, because clients ask for much: reclient for 1 hour by default, Siso for 2, Bazel for 1 with `timeout = "eternal"`.
   */
  readonly max_action_timeout_s: number
  /**
   * Seconds the upload of the outputs may take; more counts as a failed attempt.
   */
  readonly max_upload_timeout_s: number
  /**
   * Most actions the worker runs at one time; `cores` means one for each core of this machine, 0 no limit.
   */
  readonly max_inflight_tasks: number
  /**
   * Leave the timeout an action asks for to its command or wrapper; the worker stops it at `max_action_timeout_s` only.
   */
  readonly timeout_handled_externally: boolean
  /**
   * Message of an action that ran out of time. Siso takes exactly the default as final; Buck2 looks for `Execution timed out`.
   */
  readonly timeout_message: string
  /**
   * Command put before the command line of every action; split into words, no shell.
   */
  readonly entrypoint: string
  /**
   * Command run before every action, split into words without a shell; when it fails, the action goes back to the queue and the worker pauses.
   */
  readonly experimental_precondition_script?: string
  /**
   * The store inputs come from and outputs go to: a `fast_slow` whose fast side is a `filesystem`, because inputs are linked from there.
   */
  readonly cas_fast_slow_store: string
  /**
   * What the worker writes to the action cache.
   */
  readonly upload_action_result: UploadActionResult
  /**
   * Directory in which actions run, in a folder `remexec-...` for each start of the worker; what earlier ones left is removed while it runs, and nothing else in it is touched. Must be on the same file system as the fast store and belong to this worker alone.
   */
  readonly work_directory: string
  /**
   * What the worker offers, by property name.
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
   * `PATH` of commands that set none and get none from `additional_environment`; a command that sets other variables only gets it too. Empty: none.
   */
  readonly default_path: string
  /**
   * What an action may take. More ends it, with everything it started, and its operation says RESOURCE_EXHAUSTED and of what. Looked at several times a second, so that a fast one gets a little further.
   */
  readonly action_limits: ActionLimits
  /**
   * Keep whole input roots between actions: an action whose root is kept gets it at once, whatever its size. After each action what it added is removed and every file compared by inode, size, times and modes; a root that is not as it was made is not kept, nor one whose command may have left a process behind. Not with an `experimental_precondition_script`, nor with variables for a side channel or the action directory. Needs Linux, and koffi or `use_namespaces`.
   */
  readonly directory_cache?: DirectoryCache
  /**
   * Run each action by bubblewrap (`bwrap`) in its own Linux user, process, IPC, host name and network namespaces, without the rights of root: it sees no process of the machine, whatever it starts ends with it, and there is no network. The worker does not start where that cannot be.
   */
  readonly use_namespaces: boolean
  /**
   * Leave the network of the machine to actions; without `use_namespaces` they have it anyway.
   */
  readonly keep_network: boolean
  /**
   * Give each action its own mount namespace; needs `use_namespaces`. The machine is read-only but for the directory of the action, `/tmp` and `/var/tmp` are its own and empty. It sees nothing of the other actions, nothing that this configuration names (its own file, folders of stores, keys, lists of tokens), and no Unix socket of the machine: docs/security.md has the exact list.
   */
  readonly use_mount_namespace: boolean
  /**
   * With `use_mount_namespace` an action cannot change, replace or remove its inputs, whatever it may do otherwise: they are mounted read-only. New files it can make in the working directory, beside its outputs, and in the directories above those. An output that is an input too it may write, and of files beside outputs those beyond 128 mounts; both are copies. A symlink beside outputs it can replace, which no other action sees. `false`: all inputs are copies (clones where the file system has them) that no other action gets.
   */
  readonly read_only_inputs: boolean
  /**
   * For clients that bring a whole system with each action, such as BuildStream: the input root is `/`, with `/dev`, `/proc` and an own `/tmp`, and nothing of the machine is there. Needs `use_mount_namespace`.
   */
  readonly input_root_is_root: boolean
}

/**
 * Where the worker API of the scheduler is.
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
   * TLS towards the scheduler: needed with `grpcs` and refused without. Its files are read anew for each connection.
   */
  readonly tls_config?: ClientTls
  /**
   * Metadata sent with the connection, such as an `authorization` that says who this worker is.
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
   * Of which actions that ran the complete response is kept, as a blob `remexec.worker.v1.HistoricalExecuteResponse` with the digest of the action; `failures_only` are those with another exit code than 0 or an error.
   */
  readonly upload_historical_results_strategy: 'success_only' | 'never' | 'everything' | 'failures_only'
  /**
   * Message of a response with exit code 0; `{digest_function}`, `{action_digest_hash}`, `{action_digest_size}`, `{historical_results_hash}` and `{historical_results_size}` are filled in, the last two of the response that was kept and empty where none was.
   */
  readonly success_message_template: string
  /**
   * Message of any other response, with the same placeholders.
   */
  readonly failure_message_template: string
}

/**
 * What an action may take. More ends it, with everything it started, and its operation says RESOURCE_EXHAUSTED and of what. Looked at several times a second, so that a fast one gets a little further.
 */
export interface ActionLimits {
  /**
   * Most bytes of stdout, and as many of stderr; 0 means no limit.
   */
  readonly printed_bytes: number
  /**
   * Most disk space in bytes of the files that it makes in its input root, and with `use_mount_namespace` of each of `/tmp`, `/var/tmp` and `/dev/shm`, which are in memory; 0 means no limit. The lengths of its outputs may not add up to more either, because the store writes a sparse output in full.
   */
  readonly disk_bytes: number
  /**
   * Most processes at a time; 0 means no limit.
   */
  readonly processes: number
  /**
   * Most bytes of memory that its processes have resident together, what they share counted for each; 0 means no limit.
   */
  readonly memory_bytes: number
}

/**
 * Keep whole input roots between actions: an action whose root is kept gets it at once, whatever its size. After each action what it added is removed and every file compared by inode, size, times and modes; a root that is not as it was made is not kept, nor one whose command may have left a process behind. Not with an `experimental_precondition_script`, nor with variables for a side channel or the action directory. Needs Linux, and koffi or `use_namespaces`.
 */
export interface DirectoryCache {
  /**
   * Most input roots kept; those used last stay.
   */
  readonly max_entries: number
  /**
   * Most bytes in the files of the roots kept, which are links to the store where they can be; 0 means no limit.
   */
  readonly max_size_bytes: number
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
   * Where its blobs are.
   */
  readonly cas_store: string
  /**
   * Answer SplitBlob and SpliceBlob, in chunks of FAST_CDC_2020, and announce it. For clients that transfer only the chunks of a large blob that changed. The chunks of a SplitBlob answer are used every 30 seconds for ten minutes, so that a store evicts them meanwhile only if it takes in more than its own size within 30 seconds. A store that evicts nothing by use (an object store) is not asked.
   */
  readonly experimental_chunking?: Chunking
}

/**
 * Answer SplitBlob and SpliceBlob, in chunks of FAST_CDC_2020, and announce it. For clients that transfer only the chunks of a large blob that changed. The chunks of a SplitBlob answer are used every 30 seconds for ten minutes, so that a store evicts them meanwhile only if it takes in more than its own size within 30 seconds. A store that evicts nothing by use (an object store) is not asked.
 */
export interface Chunking {
  /**
   * Where the lists of chunks are kept, so that a blob is split once; the chunks themselves go to `cas_store`. A store of its own. Without it a blob is split each time it is asked for, as is the case where `cas_store` is a `grpc` store.
   */
  readonly index_store?: string
  /**
   * Chunk size aimed at, from 1 KiB to 1 MiB; chunks have a quarter of that to four times as much. Blobs of up to four times as much are better not chunked at all.
   */
  readonly avg_chunk_size_bytes: number
  /**
   * Most chunks of a blob; one that would have more is not split, nor put together.
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
   * Where its results are; not the store that holds its blobs.
   */
  readonly ac_store: string
  /**
   * Refuse UpdateActionResult from clients. Results of executions are stored all the same.
   */
  readonly read_only: boolean
}

/**
 * What GetCapabilities answers for one instance. Served without being configured for every instance named by another service.
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
   * Where its actions and inputs are.
   */
  readonly cas_store: string
  /**
   * Who runs its actions.
   */
  readonly scheduler: string
}

/**
 * Reads and writes of single blobs for one instance. Served without being configured where the instance has `cas`.
 */
export interface BytestreamServiceOptions {
  /**
   * The name clients send to reach this entry; may be empty and may have several segments, as in `team/main`. `*` serves every name that has no entry of its own in this list.
   */
  readonly instance_name: string
  /**
   * Where its blobs are.
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
 * Workers and queue as JSON over plain HTTP: `GET path` shows them, `PUT` and `DELETE path/drain?scheduler=S&worker=ID` drain and undrain a worker, `DELETE path/operation?name=NAME` cancels an operation. Whoever reaches it may, unless `security` says who has `administer`: give it a server of its own, on an address that only operators reach.
 */
export interface AdminServiceOptions {
  /**
   * Its path; starts with a slash.
   */
  readonly path: string
}

/**
 * Settings of the whole process.
 */
export interface GlobalOptions {
  /**
   * Digest function of requests that name none and whose hash fits several.
   */
  readonly default_digest_hash_function: 'SHA256' | 'BLAKE3' | 'SHA384' | 'SHA512' | 'SHA1' | 'MD5'
  /**
   * Digest functions clients may use.
   */
  readonly digest_functions: readonly ('SHA256' | 'BLAKE3' | 'SHA384' | 'SHA512' | 'SHA1' | 'MD5')[]
  /**
   * Least important lines that are logged.
   */
  readonly log_level: 'debug' | 'info' | 'warn' | 'error'
  /**
   * Share of the calls whose line is logged at the level info, each with the share beside it: 0.01 is one of a hundred, chosen at random. At the level debug every call has its line anyway, and a call that failed by the server's fault at every level.
   */
  readonly log_call_share: number
  /**
   * Counts completed executions for each action, by the label `execution_action_digest` of the metrics: of the first 1,000 actions, the others together. Many series: for a while, and for who looks for one action.
   */
  readonly metrics_action_digests: boolean
  /**
   * Seconds that calls and actions under way get to end once the process is asked to stop (SIGTERM, SIGINT or SIGHUP); then they are ended. Idle workers and connections are not waited for. A start that is not complete by then is given up. A second signal ends the process at once. Container managers kill after 10 seconds or 30: keep this below.
   */
  readonly drain_s: number
  /**
   * Counts neither calls nor what stores and schedulers do, exports no metrics, and leaves their numbers out of the status page.
   */
  readonly disable_metrics: boolean
}

/**
 * The address of a server and its transport settings.
 */
export interface ListenerOptions {
  /**
   * `host:port`. The host may be a name or left out for every address of the machine; port 0 takes any free one.
   */
  readonly socket_address: string
  /**
   * Who speaks gRPC on the connections: `remexec`, which is by far the cheaper one, or the library `grpc-js`, for whoever meets a fault in the first. docs/transport.md compares them.
   */
  readonly transport: 'remexec' | 'grpc-js'
  /**
   * Compression of gRPC messages, apart from the compressed blobs of the protocol.
   */
  readonly compression: ListenerCompression
  /**
   * Connections at a time; 0 is no bound. One more is closed at once, before it is asked what it wants, and said in the log.
   */
  readonly max_connections: number
  /**
   * Connections at a time from one address; 0 is no bound. Set it to 0, or higher, where many clients share an address: behind a proxy or NAT.
   */
  readonly max_connections_per_address: number
  /**
   * How long a message of a request may stay incomplete while the server waits for it: the only message of most calls, each message of an upload. Beyond it the call ends with DEADLINE_EXCEEDED; an upload can be resumed. 0 waits for ever. Needs `transport: "remexec"`.
   */
  readonly request_timeout_s: number
  /**
   * HTTP/2 settings of the listener, for `transport: "remexec"`. docs/transport.md tells what they bound.
   */
  readonly advanced_http: AdvancedHttp
  /**
   * Largest message a client may send.
   */
  readonly max_decoding_message_size: number
  /**
   * Serve with TLS, on all of the port: gRPC and the pages of HTTP. Files that change are read again within 5 seconds, for connections that are made from then on; those that are open stay.
   */
  readonly tls?: ListenerTls
}

/**
 * Compression of gRPC messages, apart from the compressed blobs of the protocol.
 */
export interface ListenerCompression {
  /**
   * What responses are compressed with, for clients that say they understand it. It costs about 20 ms of CPU for a MiB; blobs that a client reads compressed are left as they are. `gzip` needs `transport: "remexec"`.
   */
  readonly send_compression_algorithm: 'none' | 'gzip'
  /**
   * What requests may be compressed with; others are refused with UNIMPLEMENTED. An empty list takes none. `transport: "grpc-js"` always takes gzip and deflate.
   */
  readonly accepted_compression_algorithms: readonly ('none' | 'gzip' | 'deflate')[]
}

/**
 * HTTP/2 settings of the listener, for `transport: "remexec"`. docs/transport.md tells what they bound.
 */
export interface AdvancedHttp {
  /**
   * Seconds without a byte from the client after which it is asked for a sign of life (PING); 0 never asks.
   */
  readonly http2_keep_alive_interval: number
  /**
   * Streams that a client may give up or get wrong at once, besides 200 a second and one for each that was answered; a connection that goes beyond is ended.
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
   * The largest frame that is taken: 16,384 bytes, nothing else. Larger ones save nothing.
   */
  readonly experimental_http2_max_frame_size: number
  /**
   * Calls at a time on a connection, those included that the client gave up and that have not ended yet.
   */
  readonly experimental_http2_max_concurrent_streams: number
  /**
   * How long a sign of life may take before the connection is closed.
   */
  readonly experimental_http2_keep_alive_timeout_s: number
  /**
   * Bytes that wait for the socket of a connection before no more of an answer is made.
   */
  readonly experimental_http2_max_send_buf_size: number
  /**
   * Bytes of the fields of a request, as RFC 9113, 6.5.2, counts them; more is answered with 431.
   */
  readonly experimental_http2_max_header_list_size: number
}

/**
 * Serve with TLS, on all of the port: gRPC and the pages of HTTP. Files that change are read again within 5 seconds, for connections that are made from then on; those that are open stay.
 */
export interface ListenerTls {
  /**
   * PEM certificate of this server, behind it those that lead to its authority.
   */
  readonly cert_file: string
  /**
   * PEM key of the certificate, without a password. Only the user of this process should be able to read it.
   */
  readonly key_file: string
  /**
   * PEM file with authorities; with it every client needs a certificate of one of them.
   */
  readonly client_ca_file?: string
  /**
   * PEM file with the revocation lists of all authorities in `client_ca_file`, each still valid: clients whose certificate is in one are refused.
   */
  readonly client_crl_file?: string
  /**
   * Whether clients may come without a certificate where `client_ca_file` is given. One that is wrong is refused either way.
   */
  readonly client_certificates: 'required' | 'optional'
  /**
   * The oldest TLS that is spoken.
   */
  readonly min_version: '1.2' | '1.3'
}

/**
 * What one instance has to itself, whichever server and service it is reached by.
 */
export interface InstanceOptions {
  /**
   * The name of the instance, as in the services.
   */
  readonly instance_name: string
  /**
   * Keep its blobs and results apart from those of the other instances that use the same stores: nothing of theirs is found here, nor is what is here found there, whatever digest is asked for, and what several of them upload is kept for each. Every instance that uses these stores has to be isolated. Left out: who has the digest of a blob has the blob.
   */
  readonly isolate: boolean
  /**
   * What this instance may keep in each of the stores it shares, in bytes. Beyond that its own blobs go that were not used the longest; a blob for which there is no room at all is refused with RESOURCE_EXHAUSTED, and so are uploads that are larger together while they are under way. For isolated instances: of a blob that is shared nobody can say whose it is. Counted from the start of the process, what was kept before as soon as it is used.
   */
  readonly max_stored_bytes?: number
}

/**
 * Who may call, and what each may do, on every server of the process. Left out: everybody may do everything. docs/security.md explains it.
 */
export interface SecurityOptions {
  /**
   * By what callers are known. What a caller shows is looked at in this order: `identity_header`, the `authorization` header (a token of ours, then a JWT, or a name and password), a client certificate. The first that is there decides; who shows something wrong is refused, who shows nothing is anonymous.
   */
  readonly identity: IdentitySources
  /**
   * Who may do what. Each rule adds to what a caller may do; nothing takes away. Left out: everybody who is known may do all of the caches and execution, and who is anonymous nothing.
   */
  readonly access?: readonly AccessRule[]
  /**
   * How many requests callers may make. Of these the first that is about a caller counts for it, each name for itself; who is anonymous, or shows something wrong, is counted by its address. Too many are refused with RESOURCE_EXHAUSTED, which says when to come again.
   */
  readonly request_limits: readonly RequestLimit[]
  /**
   * To whom results say who asked for them, or gave them to the action cache, and as who the worker is known that ran them: to those who may `administer` the instance, to all who may read its results, or to nobody, and then it is not written down. It is `remexec.scheduler.v1.ResultOrigin` in their metadata.
   */
  readonly callers_in_results: 'administrators' | 'readers' | 'nobody'
  /**
   * Write down who asked for what, when, and whether that was allowed: a line of JSON for each call. Health and reflection, which are open, are not in it. Nothing by which callers are known is written, only who they are.
   */
  readonly audit_log?: AuditLog
}

/**
 * By what callers are known. What a caller shows is looked at in this order: `identity_header`, the `authorization` header (a token of ours, then a JWT, or a name and password), a client certificate. The first that is there decides; who shows something wrong is refused, who shows nothing is anonymous.
 */
export interface IdentitySources {
  /**
   * Believe a proxy that has found out who calls.
   */
  readonly identity_header?: IdentityHeader
  /**
   * Tokens that callers bring as `authorization: Bearer TOKEN`; `remexec token NAME` makes one.
   */
  readonly tokens: readonly AccessToken[]
  /**
   * More tokens: a line `NAME SHA256 [GROUP,GROUP...]` each. Read again within 5 seconds when it changes.
   */
  readonly tokens_file?: string
  /**
   * Issuers whose JSON Web Tokens callers may bring as `authorization: Bearer TOKEN`. Only asymmetric signatures are taken.
   */
  readonly jwt: readonly JwtIssuer[]
  /**
   * Names and passwords for `authorization: Basic`, as `htpasswd -B` writes them (bcrypt only). Read again within 5 seconds when it changes.
   */
  readonly htpasswd_file?: string
  /**
   * Take the name of a caller from the certificate that `listener.http.tls` has asked it for.
   */
  readonly client_certificates?: CertificateIdentity
}

/**
 * Believe a proxy that has found out who calls.
 */
export interface IdentityHeader {
  /**
   * The header with the name of the caller, in lower case.
   */
  readonly name: string
  /**
   * The header with its groups, separated by commas.
   */
  readonly groups_name?: string
  /**
   * Addresses of the proxies, each `address` or `address/prefix`. From others the headers are nothing.
   */
  readonly trusted: readonly string[]
}

export interface AccessToken {
  /**
   * Who the caller is.
   */
  readonly name: string
  /**
   * SHA-256 of the token, 64 hex digits.
   */
  readonly sha256: string
  /**
   * What the caller belongs to.
   */
  readonly groups: readonly string[]
}

export interface JwtIssuer {
  /**
   * What `iss` must be.
   */
  readonly issuer: string
  /**
   * What `aud` must have one of.
   */
  readonly audiences: readonly string[]
  /**
   * Where the keys of the issuer are. Left out with `jwks_file`: as its `/.well-known/openid-configuration` says.
   */
  readonly jwks_uri?: string
  /**
   * A file with the keys. Read again within 5 seconds when it changes.
   */
  readonly jwks_file?: string
  /**
   * The claim that says who the caller is.
   */
  readonly name_claim: string
  /**
   * The claim with its groups: a list, or words in one text.
   */
  readonly groups_claim: string
  /**
   * Seconds by which the clocks may differ.
   */
  readonly clock_skew_s: number
}

/**
 * Take the name of a caller from the certificate that `listener.http.tls` has asked it for.
 */
export interface CertificateIdentity {
  /**
   * What of the certificate is the name: the common name of its subject, or the first of its alternative names of that sort.
   */
  readonly name: 'common_name' | 'dns' | 'uri' | 'email'
  /**
   * What of its subject is the groups.
   */
  readonly groups: 'none' | 'organization' | 'organizational_unit'
}

export interface AccessRule {
  /**
   * What: read and write blobs and results, have actions run, be a worker, see and list what others do.
   */
  readonly may: readonly ('read_cas' | 'write_cas' | 'read_ac' | 'write_ac' | 'execute' | 'work' | 'administer')[]
  /**
   * In which instances, by patterns: `*` stands for any text.
   */
  readonly instances: readonly string[]
  /**
   * For which schedulers it may `work`, by patterns.
   */
  readonly schedulers: readonly string[]
  /**
   * Everybody, known or not. The four keys below say which of those who are known, and each that is given must fit.
   */
  readonly anonymous: boolean
  /**
   * Whose name fits one of these patterns.
   */
  readonly names?: readonly string[]
  /**
   * Who has a group that fits one of these patterns.
   */
  readonly groups?: readonly string[]
  /**
   * Whose JWT has these claims, each a pattern of its value, or of one of its values.
   */
  readonly claims?: ReadonlyMap<string, string>
  /**
   * Who is known by one of these: a name may be given out by several.
   */
  readonly by?: readonly ('header' | 'token' | 'jwt' | 'basic' | 'certificate')[]
}

export interface RequestLimit {
  /**
   * Requests in a second, over time. Each call is one, however much it transfers.
   */
  readonly requests_per_s: number
  /**
   * Requests at once after a while without any.
   */
  readonly burst: number
  /**
   * Everybody, known or not. The four keys below say which of those who are known, and each that is given must fit.
   */
  readonly anonymous: boolean
  /**
   * Whose name fits one of these patterns.
   */
  readonly names?: readonly string[]
  /**
   * Who has a group that fits one of these patterns.
   */
  readonly groups?: readonly string[]
  /**
   * Whose JWT has these claims, each a pattern of its value, or of one of its values.
   */
  readonly claims?: ReadonlyMap<string, string>
  /**
   * Who is known by one of these: a name may be given out by several.
   */
  readonly by?: readonly ('header' | 'token' | 'jwt' | 'basic' | 'certificate')[]
}

/**
 * Write down who asked for what, when, and whether that was allowed: a line of JSON for each call. Health and reflection, which are open, are not in it. Nothing by which callers are known is written, only who they are.
 */
export interface AuditLog {
  /**
   * The file. Its folder must be there. Who moves it away gets a new one within 5 seconds.
   */
  readonly path: string
  /**
   * All of them, or those only that were refused.
   */
  readonly calls: 'all' | 'refused'
  /**
   * A file of this length becomes `path.1`, that one `path.2`, and so on.
   */
  readonly max_bytes: number
  /**
   * Older files that are kept.
   */
  readonly max_files: number
}
