// Written by `npm run generate` from protos/. Do not edit.
import type * as google_devtools_build_v1 from './google.devtools.build.v1.js'

export interface OrderedEvent {
  streamId: google_devtools_build_v1.StreamId | null
  sequenceNumber: number
  event: Buffer
}

export interface OrderedEventInput {
  streamId?: google_devtools_build_v1.StreamIdInput | null | undefined
  sequenceNumber?: number | undefined
  event?: Uint8Array | undefined
}

export interface ToolEvent {
  orderedBuildEvent: OrderedEvent | null
  notificationKeywords: string[]
  projectId: string
  checkPrecedingLifecycleEventsPresent: boolean
}

export interface ToolEventInput {
  orderedBuildEvent?: OrderedEventInput | null | undefined
  notificationKeywords?: readonly string[] | undefined
  projectId?: string | undefined
  checkPrecedingLifecycleEventsPresent?: boolean | undefined
}

export interface LifecycleEvent {
  buildEvent: OrderedEvent | null
  notificationKeywords: string[]
  projectId: string
  checkPrecedingLifecycleEventsPresent: boolean
}

export interface LifecycleEventInput {
  buildEvent?: OrderedEventInput | null | undefined
  notificationKeywords?: readonly string[] | undefined
  projectId?: string | undefined
  checkPrecedingLifecycleEventsPresent?: boolean | undefined
}
