import { runSeeds } from './seeds.js'

runSeeds(10_000)
