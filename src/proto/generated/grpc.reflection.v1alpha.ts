// Written by `npm run generate` from protos/. Do not edit.

export interface ErrorResponse {
  errorCode: number
  errorMessage: string
}

export interface ErrorResponseInput {
  errorCode?: number | undefined
  errorMessage?: string | undefined
}

export interface ExtensionNumberResponse {
  baseTypeName: string
  extensionNumber: number[]
}

export interface ExtensionNumberResponseInput {
  baseTypeName?: string | undefined
  extensionNumber?: readonly number[] | undefined
}

export interface ExtensionRequest {
  containingType: string
  extensionNumber: number
}

export interface ExtensionRequestInput {
  containingType?: string | undefined
  extensionNumber?: number | undefined
}

export interface FileDescriptorResponse {
  fileDescriptorProto: Buffer[]
}

export interface FileDescriptorResponseInput {
  fileDescriptorProto?: readonly Uint8Array[] | undefined
}

export interface ListServiceResponse {
  service: ServiceResponse[]
}

export interface ListServiceResponseInput {
  service?: readonly ServiceResponseInput[] | undefined
}

export interface ServerReflectionRequest {
  host: string
  fileByFilename: string
  fileContainingSymbol: string
  fileContainingExtension: ExtensionRequest | null
  allExtensionNumbersOfType: string
  listServices: string
  /** Which one is set. */
  readonly messageRequest: 'fileByFilename' | 'fileContainingSymbol' | 'fileContainingExtension' | 'allExtensionNumbersOfType' | 'listServices' | undefined
}

export interface ServerReflectionRequestInput {
  host?: string | undefined
  fileByFilename?: string | undefined
  fileContainingSymbol?: string | undefined
  fileContainingExtension?: ExtensionRequestInput | null | undefined
  allExtensionNumbersOfType?: string | undefined
  listServices?: string | undefined
}

export interface ServerReflectionResponse {
  validHost: string
  originalRequest: ServerReflectionRequest | null
  fileDescriptorResponse: FileDescriptorResponse | null
  allExtensionNumbersResponse: ExtensionNumberResponse | null
  listServicesResponse: ListServiceResponse | null
  errorResponse: ErrorResponse | null
  /** Which one is set. */
  readonly messageResponse: 'fileDescriptorResponse' | 'allExtensionNumbersResponse' | 'listServicesResponse' | 'errorResponse' | undefined
}

export interface ServerReflectionResponseInput {
  validHost?: string | undefined
  originalRequest?: ServerReflectionRequestInput | null | undefined
  fileDescriptorResponse?: FileDescriptorResponseInput | null | undefined
  allExtensionNumbersResponse?: ExtensionNumberResponseInput | null | undefined
  listServicesResponse?: ListServiceResponseInput | null | undefined
  errorResponse?: ErrorResponseInput | null | undefined
}

export interface ServiceResponse {
  name: string
}

export interface ServiceResponseInput {
  name?: string | undefined
}
