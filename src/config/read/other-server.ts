/** Configuration files of other servers, by keys at the beginning of a line that only they have, and the way from there. */
const OTHERS: readonly (readonly [name: string, isIts: RegExp, advice: string])[] = [
  [
    'bazel-remote',
    /^(?:max_size|storage_mode|htpasswd_file|http_address|grpc_address|s3_proxy|experimental_remote_asset_api)\s*:/m,
    'remexec init from-bazel-remote FOLDER writes a configuration, and its README has each flag',
  ],
  [
    'BuildBuddy',
    /^(?:app|executor|cache|auth|database)\s*:\s*$[\s\S]*?^\s+\w+\s*:/m,
    'remexec init team FOLDER writes a configuration',
  ],
  [
    'Buildfarm',
    /^(?:digestFunction|defaultActionTimeout|maximumActionTimeout|backplane)\s*:/m,
    'remexec init workers FOLDER writes a configuration with execution',
  ],
  [
    'Buildbarn (jsonnet)',
    /^local \w+ = |^\s*(?:contentAddressableStorage|actionCache|buildQueue|clientGrpcServers|grpcServers)\s*:/m,
    'remexec init workers FOLDER writes a configuration with execution',
  ],
]

/** What `text`, which is no JSON5, is, and what to do; undefined if it is no known configuration of another server. */
export const otherServerOf = (text: string): string | undefined => {
  const [name, , advice] = OTHERS.find(([, isIts]) => isIts.test(text.slice(0, LOOKED_AT))) ?? []
  return name === undefined ? undefined : `it looks like a configuration of ${name}: ${advice}`
}

const LOOKED_AT = 64 * 1024
