import { wrappersOver } from './over-backend.js'

wrappersOver('S3')
