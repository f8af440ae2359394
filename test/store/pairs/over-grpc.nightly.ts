import { wrappersOver } from './over-backend.js'

wrappersOver('grpc')
