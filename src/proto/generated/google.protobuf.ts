// Written by `npm run generate` from protos/. Do not edit.

export interface Any {
  typeUrl: string
  value: Buffer
}

export interface AnyInput {
  typeUrl?: string | undefined
  value?: Uint8Array | undefined
}

export interface Duration {
  seconds: number
  nanos: number
}

export interface DurationInput {
  seconds?: number | undefined
  nanos?: number | undefined
}

export interface Empty {
}

export interface EmptyInput {
}

export interface Timestamp {
  seconds: number
  nanos: number
}

export interface TimestampInput {
  seconds?: number | undefined
  nanos?: number | undefined
}

export interface DoubleValue {
  value: number
}

export interface DoubleValueInput {
  value?: number | undefined
}

export interface FloatValue {
  value: number
}

export interface FloatValueInput {
  value?: number | undefined
}

export interface Int64Value {
  value: number
}

export interface Int64ValueInput {
  value?: number | undefined
}

export interface UInt64Value {
  value: number
}

export interface UInt64ValueInput {
  value?: number | undefined
}

export interface Int32Value {
  value: number
}

export interface Int32ValueInput {
  value?: number | undefined
}

export interface UInt32Value {
  value: number
}

export interface UInt32ValueInput {
  value?: number | undefined
}

export interface BoolValue {
  value: boolean
}

export interface BoolValueInput {
  value?: boolean | undefined
}

export interface StringValue {
  value: string
}

export interface StringValueInput {
  value?: string | undefined
}

export interface BytesValue {
  value: Buffer
}

export interface BytesValueInput {
  value?: Uint8Array | undefined
}
