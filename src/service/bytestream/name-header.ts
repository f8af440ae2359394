import { StatusError } from '../../base/status-error.js'
import type { ServedCall } from '../../rpc/rpc.js'

const NAME_HEADER = 'build.bazel.remote.execution.v2.resource-name'

/** What a header can carry; a name with other characters cannot be in one as it is. */
const PRINTABLE = /^[\u0020-\u007e]*$/

/**
 * A balancer may have chosen this server by the name in the header, which must be that of the request (REAPI,
 * ContentAddressableStorage). INVALID_ARGUMENT if it is another.
 */
export const checkNameHeader = ({ metadata }: ServedCall, resourceName: string): void => {
  const named = metadata.get(NAME_HEADER)
  if (named === undefined || named === resourceName || !PRINTABLE.test(resourceName)) return
  throw new StatusError(
    'INVALID_ARGUMENT',
    `the header ${NAME_HEADER} is ${quoted(String(named))}, and resource_name is ${quoted(resourceName)}: expected the same name, or no header`,
  )
}

const quoted = (name: string): string => JSON.stringify(name.length > 300 ? `${name.slice(0, 300)}...` : name)
