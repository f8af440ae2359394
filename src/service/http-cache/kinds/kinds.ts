import type { CacheKind } from '../kind.js'
import { bazel } from './bazel.js'
import { ccache } from './ccache.js'
import { go } from './go.js'
import { gradle } from './gradle.js'
import { maven } from './maven.js'
import { nx } from './nx.js'
import { opaque } from './opaque.js'
import { turborepo } from './turborepo.js'
import { webdav } from './webdav.js'

/** The kinds of HTTP caches, by their name in the configuration. */
export const cacheKinds = {
  bazel,
  ccache,
  go,
  gradle,
  maven,
  nx,
  opaque,
  turborepo,
  webdav,
} as const satisfies Readonly<Record<string, CacheKind>>

export type CacheKindName = keyof typeof cacheKinds
