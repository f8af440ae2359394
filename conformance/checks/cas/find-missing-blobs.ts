import type { Check } from '../../requirements/check.js'
import * as methods from '../../wire/methods.js'

const key = ({ hash, sizeBytes }: { hash: string; sizeBytes: number }): string => `${hash}/${sizeBytes}`

export const findMissingBlobsChecks: readonly Check[] = [
  {
    id: 'FMB-01',
    sends: 'Two stored and two absent digests in one request; exactly the absent two come back.',
    needs: ['cas'],
    run: async (exam) => {
      const stored = await exam.upload(exam.random(10), exam.random(2_000))
      const absent = [exam.digest(exam.random(11)), exam.digest(exam.random(12))]
      const missing = await exam.missing([...stored, ...absent].reverse())
      exam.expectEqual(missing.sort(), absent.map(key).sort(), 'the missing digests')
    },
  },
  {
    id: 'FMB-02',
    sends: 'A request whose digests are all present, and an empty one; both answers are empty.',
    needs: ['cas'],
    run: async (exam) => {
      exam.expectEqual(await exam.missing(await exam.upload(exam.random(100))), [], 'the missing digests')
      exam.expectEqual(await exam.missing([]), [], 'the answer to an empty request')
    },
  },
  {
    id: 'FMB-03',
    sends: 'One absent digest twice; it is reported at least once, and nothing else is.',
    needs: ['cas'],
    run: async (exam) => {
      const absent = exam.digest(exam.random(20))
      const request = { instanceName: exam.instanceName, blobDigests: [absent, absent] }
      const outcome = await exam.call(methods.findMissingBlobs, request)
      exam.expectCode(outcome, 'OK')
      const missing = outcome.responses.flatMap(({ missingBlobDigests }) => missingBlobDigests.map(key))
      exam.expectTrue([...new Set(missing)], [key(absent)], 'the distinct missing digests')
      exam.chose(missing.length === 1 ? 'reports a repeated digest once' : 'reports a digest once per occurrence')
    },
  },
  {
    id: 'FMB-05',
    sends: '10,000 absent digests in one request; all of them come back.',
    needs: ['cas'],
    run: async (exam) => {
      const digests = Array.from({ length: 10_000 }, () => ({ hash: exam.random(32).toString('hex'), sizeBytes: 9 }))
      const missing = new Set(await exam.missing(digests))
      exam.expectTrue(
        digests.filter((digest) => !missing.has(key(digest))),
        [],
        'the absent digests not reported',
      )
      exam.expectTrue(missing.size, 10_000, 'the number of missing digests')
    },
  },
  {
    id: 'FMB-07',
    sends: 'An upload on one connection and, after its OK, FindMissingBlobs on another; nothing is missing.',
    needs: ['cas'],
    run: async (exam) => {
      const other = exam.connect()
      await exam.connected(other)
      const digests = await exam.upload(exam.random(3_000))
      exam.expectEqual(await exam.missing(digests, { client: other }), [], 'what the second connection misses')
    },
  },
  {
    id: 'FMB-09',
    sends: 'Ten stored blobs that are reported present, read after 100 other uploads; all are readable.',
    needs: ['cas', 'bytestream'],
    run: async (exam) => {
      const blobs = Array.from({ length: 10 }, () => exam.random(5_000))
      const digests = await exam.upload(...blobs)
      exam.expectEqual(await exam.missing(digests), [], 'the missing digests')
      await exam.upload(...Array.from({ length: 100 }, () => exam.random(5_000)))
      for (const [at, digest] of digests.entries()) {
        const outcome = await exam.read(exam.readName(digest))
        exam.expectCode(outcome, 'OK')
        exam.expectBytes(outcome.data, blobs[at] ?? Buffer.alloc(0), 'the download')
      }
    },
  },
  {
    id: 'FMB-10',
    sends: 'Half of a blob by ByteStream.Write, which stalls and is cancelled; the blob is missing and unreadable.',
    needs: ['cas', 'bytestream'],
    run: async (exam) => {
      const data = exam.random(100_000)
      const digest = exam.digest(data)
      const upload = exam.open(methods.write)
      await upload.send({ resourceName: exam.uploadName(digest), writeOffset: 0, data: data.subarray(0, 50_000) })
      exam.expectEqual(await exam.missing([digest]), [key(digest)], 'what is missing during the upload')
      upload.cancel()
      await upload.outcome
      exam.expectEqual(await exam.missing([digest]), [key(digest)], 'what is missing after the upload broke')
      exam.expectCode(await exam.read(exam.readName(digest)), 'NOT_FOUND')
    },
  },
]
