// For changes in: src/store/kinds/filesystem, src/store/index, src/assembly
import t from 'tap'
import { crashModel } from '../kinds/filesystem/crash-model.js'
import { Crew } from './crew.js'

t.setTimeout(900_000)

const crew = await Crew.start(4)
t.teardown(() => crew.stop())

crashModel(t, 40, (folder, parts) => crew.open(folder, parts), false)
