/** The backends of remote store kinds, started as in the tests, each with the plain client of its library. */
import { once } from 'node:events'
import { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { BlobServiceClient } from '@azure/storage-blob'
import { Storage } from '@google-cloud/storage'
import { Client, type ClientWritableStream, credentials } from '@grpc/grpc-js'
import { createClient, RESP_TYPES } from '@redis/client'
import { GridFSBucket, MongoClient } from 'mongodb'
import { startAzure, withoutAzure } from '../../test/store/kinds/experimental_cloud_object_store/azure-server.js'
import { startGcs, withoutGcs } from '../../test/store/kinds/experimental_cloud_object_store/gcs-server.js'
import { S3_KEYS, startS3, withoutS3 } from '../../test/store/kinds/experimental_cloud_object_store/s3-server.js'
import { startMongo, withoutMongo } from '../../test/store/kinds/experimental_mongo/mongo-server.js'
import { startRemexec } from '../../test/store/kinds/grpc/remexec.js'
import { startRedis, withoutRedis } from '../../test/store/kinds/redis_store/redis.js'
import type { Scope } from '../../test/store/remote/backend.js'
import { built } from '../built.js'

/** The usual client code without stores: bytes under keys, in the simplest form of the library. */
export interface RawClient {
  put(key: string, bytes: Buffer): Promise<void>
  /** Reads the value to its end. */
  get(key: string): Promise<void>
}

export interface RemoteBackend {
  readonly name: string
  /** Why the backend cannot run here. */
  readonly skip: string | false
  /** This many blobs of 4 KiB take seconds. */
  readonly smallCount: number
  start(scope: Scope): Promise<StartedBackend>
}

interface StartedBackend {
  readonly store: object
  readonly raw: RawClient
  readonly rawName: string
  readonly empty?: () => Promise<unknown>
}

const nowhere = (): Writable =>
  new Writable({ highWaterMark: 256 * 1024, write: (_chunk, _encoding, callback) => callback() })

/** The plain clients retry by themselves, e.g. after the server closed a connection. */
const retry = { max_retries: 3, delay: 0.05 }

const drain = (source: NodeJS.ReadableStream): Promise<void> => pipeline(source, nowhere())

export const redis: RemoteBackend = {
  name: 'redis_store',
  skip: withoutRedis,
  smallCount: 2000,
  start: async (scope) => {
    const { address } = await startRedis(scope)
    const client = createClient({ url: address }).withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer })
    await client.connect()
    scope.teardown(() => client.destroy())
    const raw = {
      put: async (key: string, bytes: Buffer) => void (await client.set(key, bytes)),
      get: async (key: string) => void (await client.get(key)),
    }
    return { store: { redis_store: { addresses: [address] } }, raw, rawName: 'SET and GET of @redis/client' }
  },
}

const s3: RemoteBackend = {
  name: 'experimental_cloud_object_store aws',
  skip: withoutS3,
  smallCount: 300,
  start: async (scope) => {
    const { port, bucket: Bucket } = await startS3(scope)
    const place = { region: 'us-east-1', endpoint: `http://127.0.0.1:${port}` }
    process.env['AWS_ACCESS_KEY_ID'] = S3_KEYS.accessKeyId
    process.env['AWS_SECRET_ACCESS_KEY'] = S3_KEYS.secretAccessKey
    const client = new S3Client({ ...place, forcePathStyle: true, credentials: S3_KEYS })
    scope.teardown(() => client.destroy())
    const raw = {
      put: async (Key: string, Body: Buffer) => void (await client.send(new PutObjectCommand({ Bucket, Key, Body }))),
      get: async (Key: string) => {
        const { Body } = await client.send(new GetObjectCommand({ Bucket, Key }))
        await drain(Body as NodeJS.ReadableStream)
      },
    }
    const store = { provider: 'aws', bucket: Bucket, ...place, retry, insecure_allow_http: true }
    return { store: { experimental_cloud_object_store: store }, raw, rawName: 'PutObject and GetObject of the SDK' }
  },
}

const gcs: RemoteBackend = {
  name: 'experimental_cloud_object_store gcs',
  skip: withoutGcs,
  smallCount: 300,
  start: async (scope) => {
    const { proxy, bucket: name } = await startGcs(scope)
    const endpoint = `http://127.0.0.1:${proxy.port}`
    const bucket = new Storage({ apiEndpoint: endpoint, projectId: 'test' }).bucket(name)
    const raw = {
      put: (key: string, bytes: Buffer) => bucket.file(key).save(bytes, { resumable: false, validation: false }),
      get: (key: string) => drain(bucket.file(key).createReadStream({ validation: false })),
    }
    const store = { provider: 'gcs', bucket: name, endpoint, retry, insecure_allow_http: true, read_timeout_s: 60 }
    return {
      store: { experimental_cloud_object_store: store },
      raw,
      rawName: 'save and createReadStream of the library',
    }
  },
}

const azure: RemoteBackend = {
  name: 'experimental_cloud_object_store azure',
  skip: withoutAzure,
  smallCount: 300,
  start: async (scope) => {
    const { sasUrl, container } = await startAzure(scope)
    const client = new BlobServiceClient(sasUrl(3_600_000)).getContainerClient(container)
    const raw = {
      put: async (key: string, bytes: Buffer) => void (await client.getBlockBlobClient(key).uploadData(bytes)),
      get: async (key: string) => {
        const { readableStreamBody } = await client.getBlockBlobClient(key).download()
        if (readableStreamBody !== undefined) await drain(readableStreamBody)
      },
    }
    const store = { provider: 'azure', container, sas_url: sasUrl(3_600_000), retry, insecure_allow_http: true }
    return { store: { experimental_cloud_object_store: store }, raw, rawName: 'uploadData and download of the library' }
  },
}

/** MongoDB accepts no larger document; its driver makes chunks above this. */
const DOCUMENT_BYTES = 1024 * 1024

const mongo: RemoteBackend = {
  name: 'experimental_mongo',
  skip: withoutMongo,
  smallCount: 300,
  start: async (scope) => {
    const { port } = await startMongo(scope)
    const address = `mongodb://127.0.0.1:${port}/`
    const client = new MongoClient(address)
    scope.teardown(() => client.close())
    const database = client.db('raw')
    const small = database.collection<{ _id: string; bytes: Buffer }>('blobs')
    const large = new GridFSBucket(database)
    const isLarge = new Set<string>()
    const raw = {
      put: async (_id: string, bytes: Buffer) => {
        if (bytes.length <= DOCUMENT_BYTES) return void (await small.insertOne({ _id, bytes }))
        isLarge.add(_id)
        const upload = large.openUploadStream(_id)
        upload.end(bytes)
        await once(upload, 'finish')
      },
      get: async (_id: string) => {
        if (isLarge.has(_id)) await drain(large.openDownloadStreamByName(_id))
        else await small.findOne({ _id })
      },
    }
    return {
      store: { experimental_mongo: { connection_string: address, database: 'ours' } },
      raw,
      rawName: 'documents and GridFS of the driver',
      empty: () => Promise.all([database.dropDatabase(), client.db('ours').dropDatabase()]),
    }
  },
}

const pass = (bytes: Buffer): Buffer => bytes
const MESSAGE_BYTES = 64 * 1024

const grpc: RemoteBackend = {
  name: 'grpc',
  skip: false,
  smallCount: 2000,
  start: async (scope) => {
    const { port } = await startRemexec(scope)
    const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure())
    const { codec } = await built<typeof import('../../src/proto/codec.js')>('proto/codec.js')
    const writeRequest = codec('google.bytestream.WriteRequest')
    const readRequest = codec('google.bytestream.ReadRequest')
    scope.teardown(() => client.close())
    const placeOf = (key: string): string => key.slice('raw/'.length).replace('-', '/')
    const raw = {
      put: async (key: string, bytes: Buffer) => {
        const resourceName = `main/uploads/${Math.random()}/blobs/${placeOf(key)}`
        let call: ClientWritableStream<Buffer> | undefined
        const answered = new Promise<void>((resolve, reject) => {
          const done = (error: Error | null): void => (error === null ? resolve() : reject(error))
          call = client.makeClientStreamRequest('/google.bytestream.ByteStream/Write', pass, pass, done)
        })
        for (let at = 0; at < bytes.length; at += MESSAGE_BYTES) {
          const data = bytes.subarray(at, at + MESSAGE_BYTES)
          const finishWrite = at + data.length === bytes.length
          const hasRoom = call?.write(writeRequest.encode({ resourceName, writeOffset: at, data, finishWrite }))
          if (hasRoom === false) await once(call as NonNullable<typeof call>, 'drain')
        }
        call?.end()
        await answered
      },
      get: async (key: string) => {
        const request = readRequest.encode({ resourceName: `main/blobs/${placeOf(key)}` })
        const call = client.makeServerStreamRequest('/google.bytestream.ByteStream/Read', pass, pass, request)
        call.on('data', () => {})
        await once(call, 'end')
      },
    }
    const store = {
      endpoints: [{ address: `grpc://127.0.0.1:${port}` }],
      instance_name: 'main',
      store_type: 'cas',
      experimental_remote_cache_compression: false,
    }
    return { store: { grpc: store }, raw, rawName: 'ByteStream by grpc-js' }
  },
}

export const remoteBackends: readonly RemoteBackend[] = [redis, s3, gcs, azure, mongo, grpc]
