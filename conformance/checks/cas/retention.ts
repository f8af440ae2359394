import type { Need } from '../../exam/candidate.js'
import { expectKept } from '../../material/flood.js'
import type { Check } from '../../requirements/check.js'

/** One flood for all of them, within the first that runs. */
const flooding = { isAlone: true, fillsStore: true, deadlineMs: 300_000 } as const
const blobs: readonly Need[] = ['store-size', 'cas', 'bytestream']
const results: readonly Need[] = [...blobs, 'action-cache', 'action-cache-update']

/** What a client was told is there, and fetches later, must outlast what others upload in between. */
export const retentionChecks: readonly Check[] = [
  {
    ...flooding,
    id: 'FMB-08',
    sends:
      'Three times --store-size of uploads, and FindMissingBlobs of eight blobs after each 24th; all are readable.',
    needs: blobs,
    run: (exam) => expectKept(exam, 'foundOften'),
  },
  {
    ...flooding,
    id: 'FMB-14',
    sends: 'FindMissingBlobs of eight blobs, then three times --store-size of other uploads; all eight are readable.',
    needs: blobs,
    run: (exam) => expectKept(exam, 'foundOnce'),
  },
  {
    ...flooding,
    id: 'ACG-04',
    sends: 'Three times --store-size of uploads, and a hit after each 24th; all that the result leads to is readable.',
    needs: results,
    run: (exam) => expectKept(exam, 'hitOften'),
  },
  {
    ...flooding,
    id: 'ACG-14',
    sends: 'A hit, then three times --store-size of uploads; its files, Tree, stdout and stderr are readable.',
    needs: results,
    run: (exam) => expectKept(exam, 'hitOnce'),
  },
  {
    ...flooding,
    id: 'ACG-15',
    sends: 'A hit, then three times --store-size of uploads; the files inside its Tree are readable.',
    needs: results,
    run: (exam) => expectKept(exam, 'inTreesOfHit'),
  },
]
