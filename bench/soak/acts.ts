import type { Act } from './act.js'
import { actionActs } from './acts/actions.js'
import { assetActs } from './acts/assets.js'
import { chunkActs } from './acts/chunks.js'
import { eventActs } from './acts/events.js'
import { httpActs } from './acts/http.js'
import { transportActs } from './acts/transport.js'

/** Well and badly behaved clients of every service. */
export const actsWith = (originPort: number): readonly Act[] => [
  ...transportActs,
  ...httpActs,
  ...eventActs,
  ...assetActs(originPort),
  ...chunkActs,
  ...actionActs,
]
