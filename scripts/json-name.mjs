/** The name protoc gives a field in JSON; protobufjs would keep an underscore before a digit. */
export const jsonName = (protoName) => protoName.replace(/_([a-z0-9])/g, (_, letter) => letter.toUpperCase())
