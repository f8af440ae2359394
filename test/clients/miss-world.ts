/** Real Bazels whose misses a test provokes, and a server with pages that name the causes. */
import { randomUUID } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Test } from 'tap'
import { rowsIn } from '../pages/harness.js'
import { TestClient } from '../server/client.js'
import { Bazel, bazelRelease } from './bazel.js'
import { scratchFolder } from './scratch.js'
import { startServer } from './server.js'

/** The results that its action cache keeps. */
export const RESULTS = 200

const configuration = (folder: string) => ({
  stores: [
    { name: 'CAS', memory: { eviction_policy: { max_bytes: '100mb' } } },
    { name: 'AC', memory: { eviction_policy: { max_count: RESULTS } } },
    {
      name: 'WORK',
      fast_slow: {
        fast: { filesystem: { content_path: join(folder, 'content'), temp_path: join(folder, 'temp') } },
        slow: { ref_store: { name: 'CAS' } },
      },
    },
  ],
  schedulers: [{ name: 'MAIN', simple: { supported_platform_properties: { '*': 'ignore' } } }],
  workers: [
    {
      local: {
        worker_api_endpoint: { uri: 'grpc://127.0.0.1:0' },
        cas_fast_slow_store: 'WORK',
        upload_action_result: { ac_store: 'AC', upload_ac_results_strategy: 'success_only' },
        work_directory: join(folder, 'work'),
      },
    },
  ],
  servers: [
    {
      listener: { http: { socket_address: '127.0.0.1:0' } },
      services: {
        cas: [{ cas_store: 'CAS' }],
        ac: [{ ac_store: 'AC' }],
        bytestream: [{ cas_store: 'CAS' }],
        capabilities: [{ remote_execution: { scheduler: 'MAIN' } }],
        execution: [{ cas_store: 'CAS', scheduler: 'MAIN' }],
        build_events: { path: join(folder, 'events') },
        worker_api: { scheduler: 'MAIN' },
        pages: {},
      },
    },
  ],
})

export interface Workspace {
  readonly option?: string
  readonly leaf?: string
  readonly pool?: string
  readonly tags?: string
}

/** Three rules with one input each, and one of their outputs. */
export const write = async (
  folder: string,
  { option = '1', leaf = '1', pool = 'a', tags = '' }: Workspace,
): Promise<void> => {
  const rule = `srcs = ["leaf.txt"], cmd = "(cat $<; echo ${option}) > $@", exec_properties = {"pool": "${pool}"}, tags = [${tags}]`
  await writeFile(
    join(folder, 'BUILD'),
    `[genrule(name = "part%d" % n, outs = ["part%d.txt" % n], ${rule}) for n in range(3)]
genrule(name = "whole", srcs = ["part%d.txt" % n for n in range(3)], outs = ["whole.txt"], cmd = "cat $(SRCS) > $@")
sh_test(name = "check", srcs = ["check.sh"])
`,
  )
  await writeFile(join(folder, 'leaf.txt'), leaf)
}

/** Debian's Bazel looks for its zstd, which it writes compact logs with, where Debian does not put it. */
const LIBRARIES = ['--host_jvm_args=-Djava.library.path=/usr/lib/x86_64-linux-gnu']

/** Serves Bazel with its remote executor, or as a cache only. */
export const world = async (t: Test, program: string) => {
  const isNew = (await bazelRelease(program))?.startsWith('7.') === true
  const folder = await scratchFolder(t)
  const workspace = join(folder, 'workspace')
  await mkdir(workspace)
  await Promise.all([
    writeFile(join(workspace, 'WORKSPACE'), ''),
    writeFile(join(workspace, 'check.sh'), '#!/bin/sh\ntrue\n', { mode: 0o755 }),
    write(workspace, {}),
  ])
  const config = join(folder, 'config.json')
  await writeFile(config, JSON.stringify(configuration(folder)))
  const server = await startServer(t, folder, { config })
  const address = server.uri.replace('grpc://', '')
  const bazel = new Bazel(program, folder, workspace, LIBRARIES)
  t.teardown(() => bazel.shutdown())
  const client = new TestClient(address)
  t.teardown(() => client.close())

  /** Builds, and gives what the page says of the misses: counts and causes, and the link of the first. */
  const build = async (
    flags: readonly string[],
    { command = 'build' as 'build' | 'test', target = '//:whole' } = {},
  ) => {
    const id = randomUUID()
    const all = [
      ...(isNew ? ['--noenable_bzlmod'] : []),
      `--invocation_id=${id}`,
      '--remote_timeout=20',
      ...flags,
      target,
    ]
    const { code, output } = await bazel.run(command, ...all)
    t.equal(code, 0) || t.comment(output, server.log())
    const answer = await fetch(`http://${address}/invocation/${id}/misses`)
    const text = await answer.text()
    t.equal(answer.status, 200) || t.comment(text)
    const causes = rowsIn(text)
      .slice(1)
      .filter(([count]) => / of /.test(count ?? ''))
      .map(([count, cause]) => `${count}: ${cause}`)
    const links = [...text.matchAll(/href="(\/miss\?[^"]+)"/g)].map(([, link = '']) => link.replaceAll('&amp;', '&'))
    return { id, causes, links, output, text }
  }
  const page = async (path: string): Promise<string> => (await fetch(`http://${address}${path}`)).text()
  return { server, bazel, workspace, client, build, page }
}
