import { EMPTY_DIGEST } from '../../exam/exam.js'
import { WrongAnswer } from '../../exam/finding.js'
import { codec } from '../../proto/codec.js'
import type { Check } from '../../requirements/check.js'
import { entryOf, expectEntry, get, store } from './entries.js'
import { headerOf } from './every-cache.js'

// What single build tools ask of their HTTP cache.

const resultCodec = codec('build.bazel.remote.execution.v2.ActionResult')

const bazelChecks: readonly Check[] = [
  {
    id: 'HTB-01',
    needs: ['http:bazel'],
    sends: 'An ActionResult under ac/, with its output under cas/, and then another; each comes back as it was sent.',
    run: async (exam) => {
      const cache = exam.cache('bazel')
      const path = `ac/${exam.random(32).toString('hex')}`
      for (const name of ['first', 'second']) {
        const output = exam.random(80)
        await store(exam, entryOf(exam, cache, output))
        const result = { outputFiles: [{ path: `out/${name}`, digest: exam.digest(output) }] }
        await store(exam, { cache, path, body: resultCodec.encode(result) })
        const answer = await get(exam, { cache, path })
        exam.expectEqual(answer.status, 200, 'the status')
        const told = resultCodec.decode(answer.body)
        exam.expectTrue(
          told.outputFiles.map((file) => `${file.path} ${file.digest?.hash}`),
          result.outputFiles.map((file) => `${file.path} ${file.digest.hash}`),
          `the output files of the ${name} result that was acknowledged`,
        )
      }
    },
  },
  {
    id: 'HTB-02',
    needs: ['http:bazel'],
    sends: 'Bytes under cas/ that are not those of the hash; refused, or never served.',
    run: async (exam) => {
      const cache = exam.cache('bazel')
      const path = `cas/${exam.digest(exam.random(30)).hash}`
      const { status } = await exam.send(cache, { method: 'PUT', path, body: exam.random(30) })
      const answer = await get(exam, { cache, path })
      exam.expect(answer.status !== 200, 'no content that does not match its name', `200, after ${status} to the PUT`)
      exam.chose(`answers ${status} to bytes of another hash`)
    },
  },
  {
    id: 'HTB-03',
    needs: ['http:bazel', 'cas'],
    sends: 'A blob uploaded over gRPC, asked for over HTTP, and the reverse.',
    run: async (exam) => {
      const cache = exam.cache('bazel')
      const [digest = EMPTY_DIGEST] = await exam.upload(exam.random(90))
      const over = await get(exam, { cache, path: `cas/${digest.hash}` })
      const entry = entryOf(exam, cache, exam.random(91))
      await store(exam, entry)
      const missing = await exam.missing([exam.digest(entry.body)])
      exam.chose(
        `HTTP ${over.status === 200 ? 'sees' : 'does not see'} blobs of gRPC; gRPC ${missing.length === 0 ? 'sees' : 'does not see'} those of HTTP`,
      )
    },
  },
]

const keyChecks: readonly Check[] = [
  {
    id: 'HTK-01',
    needs: ['http:ccache'],
    sends: 'An entry under a name of ccache before 4.13, and DELETE of an entry; a miss afterwards.',
    run: async (exam) => {
      const cache = exam.cache('ccache')
      const old = { cache, path: `59/${exam.random(8).toString('hex')}v0u1t2s3r4q5p6o`, body: exam.random(300) }
      await store(exam, old)
      await expectEntry(exam, old)
      const { status } = await get(exam, old, 'DELETE')
      if (status === 405 || status === 501) {
        exam.chose('serves no DELETE')
        return
      }
      const after = await get(exam, old)
      if (after.status === 200) throw new WrongAnswer('a miss after DELETE was acknowledged', '200')
      exam.expectEqual(after.status, 404, 'the status of a deleted entry')
    },
  },
  {
    id: 'HTG-01',
    needs: ['http:gradle'],
    sends: 'An entry as old and new versions of Gradle name its type; both are stored and returned.',
    run: async (exam) => {
      const cache = exam.cache('gradle')
      for (const version of ['v1', 'v2']) {
        const type = `application/vnd.gradle.build-cache-artifact.${version}`
        const entry = entryOf(exam, cache, exam.random(900))
        const headers = { 'content-type': type, accept: type, 'x-gradle-version': '8.10' }
        const { status } = await exam.send(cache, { method: 'PUT', path: entry.path, body: entry.body, headers })
        exam.expect(status >= 200 && status < 300, `2xx to a PUT of ${version}`, String(status))
        const answer = await exam.send(cache, { method: 'GET', path: entry.path, headers: { accept: `${type}, */*` } })
        exam.expectEqual(answer.status, 200, 'the status')
        exam.expectBytes(answer.body, entry.body, 'the entry')
      }
    },
  },
  {
    id: 'HTN-01',
    needs: ['http:nx'],
    sends: 'An entry twice; 200, then 200 or 409. An absent one; 404.',
    run: async (exam) => {
      const cache = exam.cache('nx')
      const entry = entryOf(exam, cache, exam.random(400))
      const headers = { 'content-type': 'application/octet-stream' }
      const again = async (): Promise<number> =>
        (await exam.send(cache, { method: 'PUT', path: entry.path, body: entry.body, headers })).status
      exam.expectEqual(await again(), 200, 'the status of the first PUT, of which Nx takes no other')
      const second = await again()
      exam.expect(second === 200 || second === 409, '200 or 409 to the second PUT', String(second))
      const answer = await expectEntry(exam, entry)
      exam.expect(
        (answer.headers['content-type'] ?? '').startsWith('application/octet-stream'),
        'application/octet-stream',
        String(answer.headers['content-type']),
      )
      exam.chose(`answers ${second} to a second entry`)
    },
  },
]

const turborepoChecks: readonly Check[] = [
  {
    id: 'HTT-01',
    needs: ['http:turborepo'],
    sends: 'GET artifacts/status; whether the cache is enabled.',
    run: async (exam) => {
      const { status, body } = await get(exam, { cache: exam.cache('turborepo'), path: 'v8/artifacts/status' })
      exam.expectEqual(status, 200, 'the status')
      const told = /"status"\s*:\s*"(enabled|disabled|over_limit|paused)"/.exec(body.toString())?.[1]
      exam.chose(`says that it is ${exam.present(told, 'a JSON object with a known status')}`)
    },
  },
  {
    id: 'HTT-02',
    needs: ['http:turborepo'],
    sends: 'An artifact with a tag and a duration; both come back as they were sent.',
    run: async (exam) => {
      const cache = exam.cache('turborepo')
      const entry = entryOf(exam, cache, exam.random(800))
      const sent = { 'x-artifact-tag': `${exam.random(32).toString('base64')}`, 'x-artifact-duration': '1234' }
      const put = await exam.send(cache, { method: 'PUT', path: entry.path, body: entry.body, headers: sent })
      exam.expect(put.status >= 200 && put.status < 300, '2xx to the PUT', String(put.status))
      const answer = await expectEntry(exam, entry)
      for (const [name, value] of Object.entries(sent))
        exam.expectTrue(headerOf(answer.headers, name), value, `the header ${name}`)
    },
  },
  {
    id: 'HTT-03',
    needs: ['http:turborepo'],
    sends: 'An artifact of one team, asked for by another team and by a team id of the same text; misses.',
    run: async (exam) => {
      const cache = exam.cache('turborepo')
      const hash = exam.random(8).toString('hex')
      const path = (query: string): string => `v8/artifacts/${hash}?${query}`
      await store(exam, { cache, path: path('slug=one'), body: exam.random(60) })
      const others = [path('slug=other'), path('teamId=one')]
      const statuses = await Promise.all(others.map(async (each) => (await get(exam, { cache, path: each })).status))
      exam.chose(`answers ${statuses.join(' and ')} to another slug and to a team id`)
      exam.expectEqual(statuses[0], 404, 'the status for another team')
    },
  },
  {
    id: 'HTT-04',
    needs: ['http:turborepo'],
    sends: 'Events and a preflight; both succeed.',
    run: async (exam) => {
      const cache = exam.cache('turborepo')
      const event = {
        sessionId: exam.uuid(),
        source: 'REMOTE',
        event: 'MISS',
        hash: exam.random(8).toString('hex'),
        duration: 0,
      }
      const headers = { 'content-type': 'application/json' }
      const body = Buffer.from(JSON.stringify([event]))
      const events = await exam.send(cache, {
        method: 'POST',
        path: 'v8/artifacts/events?slug=conformance',
        body,
        headers,
      })
      exam.expect(events.status >= 200 && events.status < 300, '2xx to events', String(events.status))
      const preflight = await exam.send(cache, {
        method: 'OPTIONS',
        path: `v8/artifacts/${event.hash}?slug=conformance`,
        headers: {
          'access-control-request-method': 'GET',
          'access-control-request-headers': 'Authorization, User-Agent',
        },
      })
      exam.expect(preflight.status >= 200 && preflight.status < 300, '2xx to a preflight', String(preflight.status))
    },
  },
]

const webdavChecks: readonly Check[] = [
  {
    id: 'HTW-01',
    needs: ['http:webdav'],
    sends: 'PROPFIND of depth 0 of the root; 207 with a multistatus that calls it a collection.',
    run: async (exam) => {
      const cache = exam.cache('webdav')
      const { status, body } = await exam.send(cache, { method: 'PROPFIND', path: '', headers: { depth: '0' } })
      exam.expectEqual(status, 207, 'the status')
      const text = body.toString()
      exam.expect(
        /multistatus/.test(text) && /collection/.test(text),
        'a multistatus with a collection',
        text.slice(0, 200),
      )
    },
  },
  {
    id: 'HTW-02',
    needs: ['http:webdav'],
    sends: 'MKCOL of a new collection, PROPFIND of it, and an entry in it; 201 or 405, 207, and the entry.',
    run: async (exam) => {
      const cache = exam.cache('webdav')
      const parent = `${exam.random(8).toString('hex')}/`
      const { status } = await exam.send(cache, { method: 'MKCOL', path: parent })
      exam.expect(status === 201 || status === 405, '201, or 405 where collections need not be made', String(status))
      const found = await exam.send(cache, { method: 'PROPFIND', path: parent, headers: { depth: '0' } })
      exam.expectEqual(found.status, 207, 'the status of PROPFIND')
      const entry = { cache, path: `${parent}${exam.random(32).toString('hex')}`, body: exam.random(200) }
      const put = await exam.send(cache, { method: 'PUT', path: entry.path, body: entry.body })
      exam.expect(put.status >= 200 && put.status < 300, '2xx to the PUT', String(put.status))
      await expectEntry(exam, entry)
    },
  },
]

export const toolCacheChecks: readonly Check[] = [...bazelChecks, ...keyChecks, ...turborepoChecks, ...webdavChecks]
