import { systemClock } from '../../../src/base/clock.js'
import { silentLog } from '../../../src/log/log.js'
import { internalCall } from '../../../src/rpc/call.js'
import { Images } from '../../../src/worker/image/images.js'

/** A process that pulls one image into a folder, to be killed. Arguments: folder, registry, image. */
const [directory = '', registry = '', value = ''] = process.argv.slice(2)
const images = Images.open({
  ...{ directory, maxBytes: 2 ** 30, maxImageBytes: 2 ** 29, maxFiles: 100_000, maxAgeMs: 3_600_000 },
  ...{ timeoutMs: 300_000, tagAgeMs: 3_600_000, registries: [`http://${registry}`], allowAddresses: [] },
  ...{ authFile: undefined, prefetch: [], clock: systemClock, log: silentLog },
})
await images.use([{ name: 'container-image', value }], internalCall())
process.send?.('pulled')
