import { readdirSync, readFileSync } from 'node:fs'
import { cp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { cleanEnv, run } from '../clients/process.js'
import { root, scratchFolder } from '../clients/scratch.js'
import { CHART, configOf, documentsOf, helm, render, rendered, VERSION } from './rendered.js'

// For changes in: deploy/chart, deploy/recipes/company

t.setTimeout(900_000)

const kubeconform = process.env['REMEXEC_TEST_KUBECONFORM']
const schemas = process.env['REMEXEC_TEST_KUBERNETES_SCHEMAS']
const isThere = helm !== undefined && kubeconform !== undefined && schemas !== undefined
const skip = isThere ? false : 'needs helm, kubeconform and schemas of Kubernetes: .ci/bring brings them'

const MONITORED = [
  'metrics.serviceMonitor.enabled=true',
  'networkPolicy.monitoring[0].podSelector.matchLabels.app=prometheus',
]

/** Ways to install it: each renders other parts of its templates. */
const VALUES: Readonly<Record<string, readonly string[]>> = {
  'as it is': [],
  'a fixed number of workers': ['worker.autoscaling.enabled=false', 'worker.replicas=7'],
  'everything that may be set': [
    'imagePullSecrets[0].name=registry',
    'env[0].name=OTEL_EXPORTER_OTLP_ENDPOINT,env[0].value=http://collector:4317',
    'server.storageClassName=fast,server.service.type=LoadBalancer,server.service.annotations.a=b',
    'worker.nodeSelector.disk=ssd,worker.tolerations[0].key=builds,worker.tolerations[0].operator=Exists',
    'worker.autoscaling.selector.job=remexec,worker.maxUnavailable=1',
    'worker.extraVolumes[0].name=tools,worker.extraVolumes[0].emptyDir.medium=Memory',
    'worker.extraVolumeMounts[0].name=tools,worker.extraVolumeMounts[0].mountPath=/tools',
    'extraEnvFrom[0].secretRef.name=bucket,podAnnotations.a=b,podLabels.c=d,server.podAnnotations.e=f',
    'server.annotations.g=h,scheduler.annotations.g=h,worker.annotations.g=h,scheduler.priorityClassName=high',
    'server.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey=zone',
    'networkPolicy.clients[0].podSelector.matchLabels.team=ci',
    'config.worker=// nothing',
  ],
  'TLS in two values': ['tls.enabled=true', 'tls.secretName=cert'],
  'TLS of an authority that the image knows': ['tls.enabled=true', 'tls.secretName=cert', 'tls.ca='],
  'neither tokens nor policies': ['auth.enabled=false', 'networkPolicy.enabled=false'],
  'tokens of your own': ['auth.existingSecret=own'],
  'two schedulers': ['scheduler.replicas=2,scheduler.redis.addresses[0]=redis://redis:6379'],
  'two schedulers that elect by the bucket': [
    'scheduler.replicas=2,bucket.provider=aws,bucket.bucket=builds,bucket.region=r',
  ],
  'two schedulers with TLS and their tokens': [
    'scheduler.replicas=2,scheduler.redis.addresses[0]=redis://redis:6379,auth.existingSecret=own',
    'tls.enabled=true,tls.secretName=cert',
  ],
  'several servers over shared stores': ['server.replicas=3', 'config.server=// S3'],
  'an image by its digest, and a role of a cloud': [
    `image.repository=registry.example/remexec,image.digest=sha256:${'a'.repeat(64)}`,
    'serviceAccount.annotations.role=arn',
  ],
  'an Ingress': [
    'ingress.enabled=true,ingress.className=nginx,ingress.hosts[0].host=cache.example',
    'ingress.hosts[1].host=b.example,ingress.hosts[1].paths[0].path=/,ingress.hosts[1].paths[0].pathType=Exact',
    'ingress.tls[0].secretName=cert,ingress.tls[0].hosts[0]=cache.example,ingress.annotations.a=b',
  ],
  'a route of a gateway': [
    'gateway.enabled=true,gateway.parentRefs[0].name=public,gateway.hostnames[0]=cache.example',
    'gateway.timeouts.request=0s',
  ],
  'monitors of Prometheus': [...MONITORED, 'metrics.serviceMonitor.labels.release=prometheus'],
  'monitors over TLS without tokens': [...MONITORED, 'tls.enabled=true,tls.secretName=cert,auth.enabled=false'],
}

/** What an install prints. Only an install shows it, and an install needs a cluster, so it is rendered as a file of a copy. */
const notes = async (t: Test, values: readonly string[]): Promise<string> => {
  const folder = await scratchFolder(t)
  const chart = join(folder, 'chart')
  await cp(CHART, chart, { recursive: true })
  await cp(join(chart, 'templates/NOTES.txt'), join(chart, 'notes.txt'))
  await writeFile(
    join(chart, 'templates/notes.yaml'),
    'notes: |\n  {{- tpl (.Files.Get "notes.txt") . | nindent 2 }}\n',
  )
  const { code, output } = await render(t, values, chart, '--show-only', 'templates/notes.yaml')
  t.equal(code, 0) || t.comment(output)
  return output
}

/** Kinds of others, whose schemas no package has: what they say is looked at below. */
const FOREIGN = ['HTTPRoute', 'ServiceMonitor', 'PodMonitor']

/** Each kind alone, with all that it refers to: the program does not find that in another file. */
const schemasIn = async (folder: string, manifests: string): Promise<string> => {
  const read = (name: string) =>
    readFileSync(join(schemas ?? '', name), 'utf8').replaceAll('/api/_definitions.json#', '#')
  const { $defs } = JSON.parse(read('_definitions.json'))
  for (const [, group = '', kind = ''] of manifests.matchAll(/^apiVersion: (\S+)\nkind: (\S+)$/gm)) {
    if (FOREIGN.includes(kind)) continue
    const name = `${kind}-${group.replace(/\..*\//, '-').replace('/', '-')}.json`.toLowerCase()
    await writeFile(join(folder, name), JSON.stringify({ ...JSON.parse(read(name)), $id: undefined, $defs }))
  }
  return join(folder, '{{.ResourceKind}}{{.KindSuffix}}.json')
}

const conforms = async (t: Test, manifests: string) => {
  const folder = await scratchFolder(t)
  const file = join(folder, 'manifests.yaml')
  await writeFile(file, manifests)
  const at = ['-strict', '-summary', '-skip', FOREIGN.join(), '-kubernetes-version', VERSION, '-schema-location']
  return run(kubeconform ?? '', [...at, await schemasIn(folder, manifests), file], folder, cleanEnv(folder))
}

t.test('helm finds nothing wrong with the chart', { skip }, async (t) => {
  const folder = await scratchFolder(t)
  const { code, output } = await run(helm ?? '', ['lint', '--kube-version', VERSION, CHART], folder, cleanEnv(folder))
  t.equal(code, 0) || t.comment(output)
})

for (const [name, values] of Object.entries(VALUES)) {
  t.test(`Kubernetes takes ${name}`, { skip }, async (t) => {
    const manifests = await rendered(t, values)
    const { code, output } = await conforms(t, manifests)
    t.equal(code, 0) || t.comment(output)
    const foreign = FOREIGN.flatMap((kind) => [...documentsOf(manifests, kind)])
    t.match(output, `Invalid: 0, Errors: 0, Skipped: ${foreign.length}`)
  })
}

t.test('manifests that Kubernetes would reject are found', { skip }, async (t) => {
  for (const [from, to] of [
    ['replicas: 1', 'replicas: one'],
    ['periodSeconds: 5', 'periodSecond: 5'],
  ] as const) {
    const { code } = await conforms(t, (await rendered(t, [])).replace(from, to))
    t.not(code, 0, to)
  }
})

t.test('each part is given its configuration, and the variables that it reads', { skip }, async (t) => {
  const whole = await rendered(t, ['auth.enabled=false'])
  const manifests = whole.split(/^---$/m)
  const parts = readdirSync(join(CHART, 'config')).map((name) => name.replace('.json5', ''))
  t.same(parts, ['scheduler', 'server', 'worker'])
  for (const part of parts) {
    const config = readFileSync(join(CHART, 'config', `${part}.json5`), 'utf8')
    t.ok(configOf(whole, part).trim() === config.trim(), `${part}: the whole file`)
    const pod = manifests.find((text) => text.includes(`args: [/config/${part}.json5]`)) ?? ''
    const given = new Set([...pod.matchAll(/name: (REMEXEC_\w+)/g)].map(([, name]) => name))
    // Default values of ports, and of settings that need no change.
    const left = ['REMEXEC_WORKER_PORT', 'REMEXEC_CAS_EVICT']
    for (const [, name = ''] of config.matchAll(/\$\{(REMEXEC_\w+):-/g)) {
      t.ok(given.has(name) || left.includes(name), `${part} gets ${name}`)
    }
  }
})

t.test('each part gets longer to end than it gives its actions', { skip }, async (t) => {
  const manifests = (await rendered(t, ['worker.drainSeconds=1234'])).split(/^---$/m)
  const pods = manifests.filter((text) => text.includes('terminationGracePeriodSeconds'))
  const times = pods.map((pod) => {
    const [, graceS] = /terminationGracePeriodSeconds: (\d+)/.exec(pod) ?? []
    const [, drainS] = /REMEXEC_DRAIN, value: (\d+)s/.exec(pod) ?? []
    t.ok(Number(graceS) >= Number(drainS) + 10, `${graceS} beside ${drainS} seconds`)
    return Number(drainS)
  })
  t.same(times.sort(), [1234, 20, 20])
})

t.test('a budget holds for workers, and for nothing that is there once', { skip }, async (t) => {
  const manifests = (await rendered(t, [])).split(/^---$/m)
  const budgets = manifests.filter((text) => text.includes('kind: PodDisruptionBudget'))
  t.equal(budgets.length, 1)
  t.match(budgets[0], /maxUnavailable: 25%[\s\S]*app.kubernetes.io\/component: worker/)
})

t.test('the metrics by which workers are scaled are those of the rules of the adapter', async (t) => {
  const values = readFileSync(join(CHART, 'values.yaml'), 'utf8')
  const rules = readFileSync(join(root, 'deploy/observability/adapter-rules.yaml'), 'utf8')
  const scaled = [...values.matchAll(/Metric: (\w+)/g)].map(([, name]) => name)
  t.same(
    scaled,
    [...rules.matchAll(/name: \{ as: (\w+) \}/g)].map(([, name]) => name),
  )
  t.equal(scaled.length, 2)
})

t.test('values that the chart does not know, or cannot serve, are refused', { skip }, async (t) => {
  for (const [value, words] of [
    ['foo=1', /foo/],
    ['server.casize=5gb', /casize/],
    ['worker.autoscaling.maxReplica=5', /maxReplica/],
    ['scheduler.replicas=2', /needs scheduler\.redis or bucket/],
    ['scheduler.redis.addresses[0]=redis://r,auth.enabled=false', /need auth\.enabled/],
    ['server.casSize=lots', /casSize/],
    ['server.replicas=3', /needs config\.server/],
    ['tls.enabled=true', /tls\.secretName is needed/],
    ['ingress.enabled=true', /ingress\.hosts is needed/],
    ['gateway.enabled=true', /gateway\.parentRefs is needed/],
    ['metrics.serviceMonitor.enabled=true', /networkPolicy\.monitoring/],
    ['image=remexec:1', /image/],
    [
      'auth.enabled=false,auth.identity.jwt[0].issuer=a',
      /auth\.identity, auth\.access and auth\.scopes need auth\.enabled/,
    ],
  ] as const) {
    const { code, output } = await render(t, [value])
    t.not(code, 0, value)
    t.match(output, words)
  }
})

t.test(
  'the values of the recipe company: Kubernetes takes them, and validate finds nothing to say',
  { skip },
  async (t) => {
    const folder = await scratchFolder(t)
    const values = join(root, 'deploy/recipes/company/chart-values.yaml')
    const { code, output } = await render(t, [], CHART, '--values', values)
    t.equal(code, 0) || t.comment(output)
    const conforming = await conforms(t, output)
    t.equal(conforming.code, 0) || t.comment(conforming.output)
    for (const part of ['server', 'scheduler', 'worker']) {
      const file = join(folder, `${part}.json5`)
      const text = configOf(output, part)
      // The company has one scheduler, and actions that name an image are refused there.
      if (part !== 'worker')
        t.notMatch(text, /\/\/ chart: (?!engine|election|peers|images)/, `${part}: every value has its place`)
      await writeFile(file, text, { mode: 0o600 })
      const env = { ...cleanEnv(folder), OIDC_SECRET: 'a-secret', REMEXEC_TOKEN: 'a-token', REMEXEC_SCHEME: 'grpcs' }
      const valid = await run(process.execPath, [join(root, 'dist/cli.js'), 'validate', file], folder, env)
      t.match(valid.output, /valid \(0 errors, 0 warnings\)/, part)
    }
  },
)

t.test('with TLS the probes of server and scheduler speak it, and the notes say so', { skip }, async (t) => {
  const values = ['tls.enabled=true', 'tls.secretName=cert']
  const manifests = await rendered(t, values)
  for (const [name, kind, scheme] of [
    ['team-server', 'StatefulSet', 'HTTPS'],
    ['team-scheduler', 'StatefulSet', 'HTTPS'],
    ['team-worker', 'Deployment', 'HTTP'],
  ] as const) {
    const schemes = [...(documentsOf(manifests, kind).get(name) ?? '').matchAll(/port: grpc, scheme: (\w+)/g)]
    t.same(
      schemes.map(([, found]) => found),
      [scheme, scheme, scheme],
      name,
    )
  }
  const output = await notes(t, values)
  t.match(output, '--remote_executor=grpcs://team-server.builds:50051')
  t.match(output, 'get secret team-tokens')
  t.match(await notes(t, ['auth.enabled=false']), 'team-client=true')
})

t.test('without tokens only labelled pods reach the server', { skip }, async (t) => {
  const policy = (manifests: string) => documentsOf(manifests, 'NetworkPolicy').get('team-server') ?? ''
  t.notMatch(policy(await rendered(t, [])), /from:/, 'tokens decide')
  t.match(policy(await rendered(t, ['auth.enabled=false'])), /from:[\s\S]*team-client: "true"/)
})

t.test(
  'Ingress and route lead to the port of the server, and monitors to the metrics of every part',
  { skip },
  async (t) => {
    const ways = await rendered(t, [
      'ingress.enabled=true,ingress.hosts[0].host=cache.example',
      'gateway.enabled=true,gateway.parentRefs[0].name=public,gateway.hostnames[0]=cache.example',
    ])
    t.match(documentsOf(ways, 'Ingress').get('team-server'), /name: team-server, port: \{ name: grpc \}/)
    t.match(
      documentsOf(ways, 'HTTPRoute').get('team-server'),
      /name: public[\s\S]*backendRefs: \[\{ name: team-server, port: 50051 \}\]/,
    )
    t.match(documentsOf(ways, 'Service').get('team-server'), /name: grpc, port: 50051/)

    const manifests = await rendered(t, [...MONITORED, 'tls.enabled=true,tls.secretName=cert'])
    const services = documentsOf(manifests, 'ServiceMonitor')
    t.same([...services.keys()].sort(), ['team-scheduler', 'team-server'])
    t.match(services.get('team-server'), /authorization:\n +credentials: \{ name: team-tokens, key: operators \}/)
    t.match(services.get('team-scheduler'), /scheme: https[\s\S]*serverName: team-scheduler/)
    t.notMatch(services.get('team-scheduler'), /authorization/, 'its port is only for whom the policy names')
    t.notMatch(documentsOf(manifests, 'PodMonitor').get('team-worker'), /https|authorization/)
    for (const part of ['scheduler', 'worker'])
      t.match(documentsOf(manifests, 'NetworkPolicy').get(`team-${part}`), /app: prometheus/, part)
  },
)

t.test('pods are found by labels that no upgrade changes, and have the image of this version', { skip }, async (t) => {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const manifests = await rendered(t, [])
  const selectors = [...manifests.matchAll(/(?:matchLabels|selector):\n((?: +app\.kubernetes.*\n)+)/g)]
  t.ok(selectors.length >= 8)
  for (const [, labels = ''] of selectors) t.notMatch(labels, /version|chart|managed/)
  t.match(manifests, `helm.sh/chart: remexec-${version}`)
  t.match(manifests, `app.kubernetes.io/version: "${version}"`)
  t.same(new Set(manifests.match(/image: .*/g)), new Set([`image: "remexec:${version}"`]))
  t.match(await rendered(t, ['image.tag=5']), 'image: "remexec:5"')
})

t.test('the parts give their stores different names', { skip }, async (t) => {
  const names = ['server', 'scheduler', 'worker'].flatMap((part) => {
    const config = readFileSync(join(CHART, 'config', `${part}.json5`), 'utf8')
    const [, stores = ''] = /stores: \[([\s\S]*?)\n {2}\],/.exec(config) ?? []
    return [...stores.matchAll(/^ {6}name: '(\w+)'/gm)].map(([, name]) => name)
  })
  t.equal(names.length, 6)
  t.equal(new Set(names).size, 6, names.join(' '))
})
