#!/usr/bin/env node
/** `ccache-storage-grpc` and `ccache-storage-grpcs`: ccache looks for a program of such a name and starts it without arguments. */
process.argv.splice(2, 0, 'ccache-storage')
await import('./cli.js')
