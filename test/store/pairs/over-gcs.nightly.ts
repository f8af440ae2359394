import { wrappersOver } from './over-backend.js'

wrappersOver('Google Cloud Storage')
