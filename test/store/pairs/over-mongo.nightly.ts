import { wrappersOver } from './over-backend.js'

wrappersOver('experimental_mongo')
