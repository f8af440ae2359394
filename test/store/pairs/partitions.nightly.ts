// For changes in: src/store/kinds/shard, src/store/kinds/size_partitioning, src/store/partition
import t from 'tap'
import { pairsUnder } from '../pairs.js'

t.setTimeout(600_000)

pairsUnder(t, 'partitions')
