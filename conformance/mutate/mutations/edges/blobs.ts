import { compress, decompress } from '../../../material/zstd.js'
import type { Output } from '../../../proto/codec.js'
import {
  batchReadBlobs,
  batchUpdateBlobs,
  findMissingBlobs,
  read,
  spliceBlob,
  splitBlob,
} from '../../../wire/methods.js'
import { BLOB_FAULTS, unpacked } from '../../edge-faults.js'
import { type Call, type Mutation, onRequest, onResponse } from '../../mutation.js'
import { isCompressed } from '../../resource-name.js'

export const blobEdgeMutations: readonly Mutation[] = [
  ...BLOB_FAULTS.flatMap((fault): Mutation[] => [
    {
      name: `read-${fault.name}`,
      breaks: `Data of ByteStream.Read ${fault.does}.`,
      caughtBy: ['BSR-18'],
      tamper: () =>
        onResponse(read, (message: { data: Buffer }, { request }: Call<{ resourceName?: string | undefined }>) => {
          if (!isCompressed(request?.resourceName)) message.data = fault.change(message.data)
        }),
    },
    {
      name: `batch-read-${fault.name}`,
      breaks: `Data of BatchReadBlobs ${fault.does}.`,
      caughtBy: ['BRB-13'],
      tamper: () =>
        onResponse(batchReadBlobs, ({ responses }) => {
          for (const entry of responses) entry.data = fault.change(entry.data)
        }),
    },
  ]),
  {
    name: 'compressed-read-unpacked-twice',
    breaks: 'A compressed download of a zstd frame returns the content of that frame.',
    caughtBy: ['CMP-22'],
    tamper: () =>
      onResponse(read, (message: { data: Buffer }, { request }: Call<{ resourceName?: string | undefined }>) => {
        if (!isCompressed(request?.resourceName)) return
        try {
          message.data = compress(unpacked(decompress(message.data)))
        } catch {
          // A part of a frame.
        }
      }),
  },
  {
    name: 'find-missing-looks-at-100',
    breaks: 'FindMissingBlobs reports all digests after the first hundred as missing.',
    caughtBy: ['FMB-13'],
    tamper: () =>
      onResponse(
        findMissingBlobs,
        (message, { request }: Call<Output<'build.bazel.remote.execution.v2.FindMissingBlobsRequest'>>) => {
          const asked = request?.blobDigests ?? []
          const first = new Set(asked.slice(0, 100).map(({ hash }) => hash))
          const missing = message.missingBlobDigests.filter(({ hash }) => first.has(hash))
          message.missingBlobDigests = [...missing, ...asked.slice(100).map((digest) => ({ ...digest }))]
        },
      ),
  },
  {
    name: 'batch-update-keeps-100',
    breaks: 'BatchUpdateBlobs acknowledges all blobs of a batch and stores a hundred.',
    caughtBy: ['BUB-17'],
    tamper: () => {
      const dropped = new WeakMap<object, { hash: string; sizeBytes: number }[]>()
      return [
        onRequest(batchUpdateBlobs, (message, call) => {
          const requests = message.requests ?? []
          const digests = requests.slice(100).map(({ digest }) => ({
            hash: digest?.hash ?? '',
            sizeBytes: digest?.sizeBytes ?? 0,
          }))
          dropped.set(call, digests)
          message.requests = requests.slice(0, 100)
        }),
        onResponse(batchUpdateBlobs, ({ responses }, call) => {
          const status = { code: 0, message: '', details: [] }
          responses.push(...(dropped.get(call) ?? []).map((digest) => ({ digest, status })))
        }),
      ]
    },
  },
  {
    name: 'batch-update-forgives-after-1000',
    breaks: 'BatchUpdateBlobs acknowledges every blob after the thousandth, whatever its data.',
    caughtBy: ['BUB-18'],
    tamper: () =>
      onResponse(batchUpdateBlobs, ({ responses }) => {
        for (const entry of responses.slice(1_000)) entry.status = { code: 0, message: '', details: [] }
      }),
  },
  {
    name: 'batch-update-answers-100',
    breaks: 'BatchUpdateBlobs has entries for a hundred blobs of a batch.',
    caughtBy: ['BUB-17'],
    tamper: () =>
      onResponse(batchUpdateBlobs, (message) => {
        message.responses = message.responses.slice(0, 100)
      }),
  },
  {
    name: 'batch-read-answers-100',
    breaks: 'BatchReadBlobs has entries for a hundred digests.',
    caughtBy: ['BRB-12'],
    tamper: () =>
      onResponse(batchReadBlobs, (message) => {
        message.responses = message.responses.slice(0, 100)
      }),
  },
  {
    name: 'batch-read-loses-empty',
    breaks: 'BatchReadBlobs has no entry for the empty blob if there are others.',
    caughtBy: ['BRB-12'],
    tamper: () =>
      onResponse(batchReadBlobs, (message) => {
        message.responses = message.responses.filter(({ digest }) => digest?.sizeBytes !== 0)
      }),
  },
  {
    name: 'split-lists-equal-chunks-once',
    breaks: 'SplitBlob lists a repeated chunk once.',
    caughtBy: ['SPL-13'],
    tamper: () =>
      onResponse(splitBlob, (message) => {
        const byHash = new Map(message.chunkDigests.map((digest) => [digest.hash, digest]))
        message.chunkDigests = [...byHash.values()]
      }),
  },
  {
    name: 'splice-takes-100',
    breaks: 'SpliceBlob reads only the first hundred chunks.',
    caughtBy: ['SPL-13'],
    tamper: () =>
      onRequest(spliceBlob, (message) => {
        message.chunkDigests = (message.chunkDigests ?? []).slice(0, 100)
      }),
  },
]
