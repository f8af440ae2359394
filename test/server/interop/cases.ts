/** The cases of gRPC's interoperability tests that need neither cloud credentials nor a load balancer. */
export const cases = [
  'empty_unary',
  'large_unary',
  'client_streaming',
  'server_streaming',
  'ping_pong',
  'empty_stream',
  'timeout_on_sleeping_server',
  'cancel_after_begin',
  'cancel_after_first_response',
  'status_code_and_message',
  'special_status_message',
  'unimplemented_method',
  'unimplemented_service',
  'custom_metadata',
] as const

/** The cases with compressed messages. */
export const clientCompressed = ['client_compressed_unary', 'client_compressed_streaming'] as const
export const serverCompressed = ['server_compressed_unary', 'server_compressed_streaming'] as const
