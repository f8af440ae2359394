import { wrappersOver } from './over-backend.js'

wrappersOver('redis_store')
