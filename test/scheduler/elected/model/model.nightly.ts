// For changes in: src/scheduler, src/service/worker-api

import { runSeeds } from './seeds.js'

runSeeds(10_000)
