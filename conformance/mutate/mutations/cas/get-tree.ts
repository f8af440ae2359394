import { getTree } from '../../../wire/methods.js'
import {
  answered,
  ended,
  instead,
  type Mutation,
  onRequest,
  onResponse,
  recode,
  replaceResponse,
} from '../../mutation.js'

const NOT_FOUND = 5

export const getTreeMutations: readonly Mutation[] = [
  {
    name: 'tree-drops-directory',
    breaks: 'GetTree leaves out the last Directory of each response.',
    caughtBy: ['TRE-01', 'TRE-09'],
    tamper: () =>
      onResponse(getTree, ({ directories }) => {
        directories.pop()
      }),
  },
  {
    name: 'tree-last-page-lost',
    breaks: 'GetTree by pages never sends the last page.',
    caughtBy: ['TRE-05', 'TRE-06'],
    tamper: () =>
      replaceResponse(getTree, ({ nextPageToken }, { request }) =>
        (request?.pageSize ?? 0) > 0 && nextPageToken === '' ? [] : undefined,
      ),
  },
  {
    name: 'tree-root-left-out',
    breaks: 'GetTree gives only the directories below the root.',
    caughtBy: ['TRE-01'],
    tamper: () => {
      const begun = new WeakSet<object>()
      return onResponse(getTree, ({ directories }, call) => {
        if (!begun.has(call)) directories.shift()
        begun.add(call)
      })
    },
  },
  {
    name: 'tree-files-left-out',
    breaks: 'GetTree gives Directories without their files.',
    caughtBy: ['TRE-01', 'TRE-03'],
    tamper: () =>
      onResponse(getTree, ({ directories }) => {
        for (const directory of directories) directory.files = []
      }),
  },
  {
    name: 'tree-absent-root-is-empty',
    breaks: 'GetTree of an absent root ends OK without Directories.',
    caughtBy: ['TRE-02'],
    tamper: () => recode(getTree, NOT_FOUND, 0),
  },
  {
    name: 'tree-absent-child-fails',
    breaks: 'GetTree fails with NOT_FOUND when a Directory below the root is absent.',
    caughtBy: ['TRE-03'],
    tamper: () => {
      const [known, named] = [new WeakMap<object, number>(), new WeakMap<object, number>()]
      return {
        method: getTree,
        response: ({ directories }, call) => {
          known.set(call, (known.get(call) ?? 0) + directories.length)
          for (const directory of directories) {
            named.set(call, (named.get(call) ?? 0) + directory.directories.length)
          }
          return undefined
        },
        ending: (ending, call) => {
          if ((named.get(call) ?? 0) >= (known.get(call) ?? 0)) ending.code = NOT_FOUND
        },
      }
    },
  },
  {
    name: 'tree-page-size-ignored',
    breaks: 'GetTree puts all Directories in one response whatever page_size says.',
    caughtBy: ['TRE-05'],
    tamper: () =>
      onRequest(getTree, (request) => {
        request.pageSize = 0
      }),
  },
  {
    name: 'tree-page-size-off-by-one',
    breaks: 'GetTree puts one Directory more than page_size in a response.',
    caughtBy: ['TRE-05'],
    tamper: () =>
      onRequest(getTree, (request) => {
        if (request.pageSize) request.pageSize += 1
      }),
  },
  {
    name: 'tree-token-on-last-page',
    breaks: 'GetTree sets next_page_token on the last response too.',
    caughtBy: ['TRE-06'],
    tamper: () =>
      onResponse(getTree, (response) => {
        response.nextPageToken ||= 'more'
      }),
  },
  {
    name: 'tree-no-tokens',
    breaks: 'GetTree gives no next_page_token between pages.',
    caughtBy: ['TRE-06'],
    tamper: () =>
      onResponse(getTree, (response) => {
        response.nextPageToken = ''
      }),
  },
  {
    name: 'tree-token-resumes-late',
    breaks: 'GetTree leaves out a page when it resumes from a token.',
    caughtBy: ['TRE-06'],
    tamper: () => {
      const begun = new WeakSet<object>()
      return replaceResponse(getTree, (_, call) => {
        if (!call.request?.pageToken || begun.has(call)) return undefined
        begun.add(call)
        return []
      })
    },
  },
  {
    name: 'tree-empty-root-absent',
    breaks: 'GetTree does not know the empty Directory.',
    caughtBy: ['TRE-09'],
    tamper: () => instead(getTree, (request) => (request?.rootDigest?.sizeBytes ? undefined : ended(NOT_FOUND))),
  },
  {
    name: 'tree-empty-root-without-directory',
    breaks: 'GetTree of the empty Directory returns no Directory.',
    caughtBy: ['TRE-09'],
    tamper: () =>
      instead(getTree, (request) =>
        request?.rootDigest?.hash && !request.rootDigest.sizeBytes ? answered({}) : undefined,
      ),
  },
]
