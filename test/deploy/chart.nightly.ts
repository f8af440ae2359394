import { readdirSync, readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { cleanEnv, run } from '../clients/process.js'
import { root, scratchFolder } from '../clients/scratch.js'

// For changes in: deploy/chart

const { REMEXEC_TEST_HELM: helm, REMEXEC_TEST_KUBECONFORM: kubeconform } = process.env
const schemas = process.env['REMEXEC_TEST_KUBERNETES_SCHEMAS']
const isThere = helm !== undefined && kubeconform !== undefined && schemas !== undefined
const skip = isThere ? false : 'needs helm, kubeconform and schemas of Kubernetes: .ci/bring brings them'

const VERSION = '1.35.0'
const CHART = join(root, 'deploy/chart')

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
    'config.worker=// nothing',
  ],
}

const rendered = async (t: Test, values: readonly string[]): Promise<string> => {
  const folder = await scratchFolder(t)
  const set = values.flatMap((value) => ['--set', value])
  const args = ['template', 'team', CHART, '--kube-version', VERSION, '--namespace', 'builds', ...set]
  const { code, output } = await run(helm ?? '', args, folder, cleanEnv(folder))
  if (code !== 0) throw new Error(output)
  return output
}

/** Each kind alone, with all that it refers to: the program does not find that in another file. */
const schemasIn = async (folder: string, manifests: string): Promise<string> => {
  const read = (name: string) =>
    readFileSync(join(schemas ?? '', name), 'utf8').replaceAll('/api/_definitions.json#', '#')
  const { $defs } = JSON.parse(read('_definitions.json'))
  for (const [, group = '', kind = ''] of manifests.matchAll(/^apiVersion: (\S+)\nkind: (\S+)$/gm)) {
    const name = `${kind}-${group.replace(/\..*\//, '-').replace('/', '-')}.json`.toLowerCase()
    await writeFile(join(folder, name), JSON.stringify({ ...JSON.parse(read(name)), $id: undefined, $defs }))
  }
  return join(folder, '{{.ResourceKind}}{{.KindSuffix}}.json')
}

const conforms = async (t: Test, manifests: string) => {
  const folder = await scratchFolder(t)
  const file = join(folder, 'manifests.yaml')
  await writeFile(file, manifests)
  const at = ['-strict', '-summary', '-kubernetes-version', VERSION, '-schema-location']
  return run(kubeconform ?? '', [...at, await schemasIn(folder, manifests), file], folder, cleanEnv(folder))
}

t.test('helm finds nothing wrong with the chart', { skip }, async (t) => {
  const folder = await scratchFolder(t)
  const { code, output } = await run(helm ?? '', ['lint', '--kube-version', VERSION, CHART], folder, cleanEnv(folder))
  t.equal(code, 0) || t.comment(output)
})

for (const [name, values] of Object.entries(VALUES)) {
  t.test(`Kubernetes takes ${name}`, { skip }, async (t) => {
    const { code, output } = await conforms(t, await rendered(t, values))
    t.equal(code, 0) || t.comment(output)
    t.match(output, /Invalid: 0, Errors: 0, Skipped: 0/)
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
  const manifests = (await rendered(t, [])).split(/^---$/m)
  const parts = readdirSync(join(CHART, 'config')).map((name) => name.replace('.json5', ''))
  t.same(parts, ['scheduler', 'server', 'worker'])
  for (const part of parts) {
    const config = readFileSync(join(CHART, 'config', `${part}.json5`), 'utf8')
    const map =
      manifests.find((text) => text.includes('kind: ConfigMap') && text.includes(`name: team-${part}\n`)) ?? ''
    t.ok(map.replace(/^ {4}/gm, '').includes(config.trimEnd()), `${part}: the whole file`)
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
