import { wrappersOver } from './over-backend.js'

wrappersOver('Azure Blob Storage')
