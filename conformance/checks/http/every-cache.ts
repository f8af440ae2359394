import { setTimeout } from 'node:timers/promises'
import type { Exam } from '../../exam/exam.js'
import { Divergence, WrongAnswer } from '../../exam/finding.js'
import { unusualBlobs } from '../../material/edges.js'
import type { Check } from '../../requirements/check.js'
import type { HttpCache } from '../../wire/http.js'
import { entryOf, expectEntry, get, HEADERS, isMiss, put, store } from './entries.js'

/** Runs a check on each HTTP cache, one after the other. */
const onEach =
  (judge: (exam: Exam, cache: HttpCache) => Promise<void>) =>
  async (exam: Exam): Promise<void> => {
    for (const cache of exam.caches) await judge(exam, cache)
  }

const LARGE_BYTES = 40 << 20
const [AT_ONCE, IN_A_ROW] = [100, 100]
const [ASKED_TIMES, ASKING_EVERY_MS] = [10, 20]

export const everyCacheChecks: readonly Check[] = [
  {
    id: 'HTC-01',
    needs: ['http'],
    sends: 'GET of an entry that was never stored; 404.',
    run: onEach(async (exam, cache) => {
      const absent = entryOf(exam, cache, exam.random(20))
      const answer = await get(exam, absent)
      exam.expect(isMiss(absent, answer), `${cache.kind}: 404 for an absent entry`, String(answer.status))
    }),
  },
  {
    id: 'HTC-02',
    needs: ['http'],
    sends: 'PUT of an entry, then GET; a status that the client takes for success, a short answer, and the same bytes.',
    run: onEach(async (exam, cache) => {
      const entry = entryOf(exam, cache, exam.random(3_000))
      const { body } = await store(exam, entry)
      exam.expect(body.length <= 10 << 10, `${cache.kind}: an answer of at most 10 KiB`, `${body.length} bytes`)
      await expectEntry(exam, entry)
    }),
  },
  {
    id: 'HTC-03',
    needs: ['http'],
    sends: 'Entries of no bytes, every byte value, line ends, marks, and compressed data; returned unchanged.',
    run: onEach(async (exam, cache) => {
      for (const blob of [Buffer.alloc(0), ...unusualBlobs(exam)]) {
        const entry = entryOf(exam, cache, blob)
        await store(exam, entry)
        const { headers } = await expectEntry(exam, entry)
        const { 'content-encoding': encoding = 'identity' } = headers
        exam.expectEqual(encoding, 'identity', `${cache.kind}: the encoding of an answer that was not asked for one`)
      }
    }),
  },
  {
    id: 'HTC-04',
    needs: ['http'],
    sends: 'Two entries under one name, if the cache takes the second; one of the two comes back whole.',
    run: onEach(async (exam, cache) => {
      if (cache.kind === 'bazel') return
      const first = entryOf(exam, cache, exam.random(500))
      const second = { ...first, body: exam.random(700) }
      await store(exam, first)
      const { status } = await put(exam, second)
      const { body } = await get(exam, first)
      const [isFirst, isSecond] = [body.equals(first.body), body.equals(second.body)]
      if (!isFirst && !isSecond)
        throw new WrongAnswer(`${cache.kind}: one of two entries`, `${body.length} other bytes`)
      exam.chose(`${cache.kind}: answers ${status} to a second entry and keeps the ${isFirst ? 'first' : 'second'}`)
    }),
  },
  {
    id: 'HTC-05',
    needs: ['http'],
    sends: 'A PUT that breaks off after half of its body, with a length and in chunks; the entry is a miss.',
    run: onEach(async (exam, cache) => {
      for (const isChunked of [false, true]) {
        const entry = entryOf(exam, cache, exam.random(200_000))
        const headers = HEADERS[cache.kind] ?? {}
        const { path, body } = entry
        const broken = { method: 'PUT', path, body, headers, isChunked, breakAfterBytes: 100_000 }
        await cache.send(broken).catch(() => undefined)
        // A server may learn late that the connection broke, and store what it has then.
        for (let asked = 0; asked < ASKED_TIMES; asked++) {
          const answer = await get(exam, entry)
          if (answer.status === 200)
            throw new WrongAnswer(`${cache.kind}: a miss after a broken upload`, `200 with ${answer.body.length} bytes`)
          exam.expect(isMiss(entry, answer), `${cache.kind}: a miss after a broken upload`, String(answer.status))
          await setTimeout(ASKING_EVERY_MS)
        }
      }
    }),
  },
  {
    id: 'HTC-06',
    needs: ['http'],
    sends: 'A PUT in chunks without a length, and one that expects 100 Continue; both are stored.',
    run: onEach(async (exam, cache) => {
      for (const options of [{ isChunked: true }, { expectsContinue: true }]) {
        const entry = entryOf(exam, cache, exam.random(60_000))
        await store(exam, entry, options)
        await expectEntry(exam, entry)
      }
    }),
  },
  {
    id: 'HTC-07',
    needs: ['http'],
    isBulky: true,
    deadlineMs: 120_000,
    sends: 'An entry of 40 MiB, if the cache takes it; the same bytes.',
    run: onEach(async (exam, cache) => {
      const entry = entryOf(exam, cache, exam.random(LARGE_BYTES))
      const { status } = await put(exam, entry, { deadlineMs: 40_000 })
      if (status === 413 || status === 409 || status === 507) {
        exam.chose(`${cache.kind}: refuses 40 MiB with ${status}`)
        return
      }
      await expectEntry(exam, entry)
    }),
  },
  {
    id: 'HTC-08',
    needs: ['http'],
    sends: 'A hundred requests in a row; the server closes no connection.',
    run: onEach(async (exam, cache) => {
      const entry = entryOf(exam, cache, exam.random(50))
      await store(exam, entry)
      for (let at = 0; at < IN_A_ROW; at++) {
        const { isKept } = await get(exam, entry)
        exam.expect(isKept, `${cache.kind}: a connection that is kept open`, `closed after ${at + 1} requests`)
      }
    }),
  },
  {
    id: 'HTC-09',
    needs: ['http'],
    sends: 'HEAD of a stored entry and of an absent one, where it is served; no content, and the length of the entry.',
    run: onEach(async (exam, cache) => {
      const entry = entryOf(exam, cache, exam.random(1_234))
      await store(exam, entry)
      const { status, headers, body } = await get(exam, entry, 'HEAD')
      if (status === 405 || status === 501) {
        exam.chose(`${cache.kind}: serves no HEAD`)
        return
      }
      exam.expectEqual([status, body.length], [200, 0], `${cache.kind}: status and content of HEAD`)
      const length = headers['content-length'] ?? '1234'
      exam.expectEqual(length, '1234', `${cache.kind}: the content-length of HEAD`)
      const absent = entryOf(exam, cache, exam.random(10))
      const missed = await get(exam, absent, 'HEAD')
      exam.expect(isMiss(absent, missed), `${cache.kind}: HEAD of an absent entry as its GET`, String(missed.status))
    }),
  },
  {
    id: 'HTC-10',
    needs: ['http'],
    sends: 'A hundred entries at once, put and read; each with its own bytes.',
    run: onEach(async (exam, cache) => {
      const entries = Array.from({ length: AT_ONCE }, (_, at) => entryOf(exam, cache, exam.random(100 + at)))
      await Promise.all(entries.map((entry) => store(exam, entry)))
      await Promise.all(entries.map((entry) => expectEntry(exam, entry)))
    }),
  },
]

/** The value of a header, which the server has to give back. */
export const headerOf = (headers: Readonly<Record<string, unknown>>, name: string): string => {
  const value = headers[name]
  if (typeof value !== 'string') throw new Divergence(`a header ${name}`, 'none')
  return value
}
