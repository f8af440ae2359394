import { pairsUnder } from '../pairs.js'

pairsUnder('partitions')
