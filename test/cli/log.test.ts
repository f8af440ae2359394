import { mkdirSync, rmSync } from 'node:fs'
import t from 'tap'
import { until } from '../until.js'
import { DEFAULT, serve } from './program.js'

t.test('a change of state of a component is logged once, also without requests for /status', async (t) => {
  const data = t.testdir()
  const server = serve(t, DEFAULT, data)
  const [, address] = await server.hears(/serving grpc:\/\/(\S+) server=public/)
  const status = async (): Promise<number> => (await fetch(`http://${address}/status`)).status
  // Its own worker has connected.
  await until(async () => (await status()) === 200)
  rmSync(`${data}/ac/temp`, { recursive: true })
  await server.hears(/a component does not work component=stores\/AC state=Failed .*its folder is gone/)
  for (let asked = 0; asked < 3; asked++) t.equal(await status(), 503)
  mkdirSync(`${data}/ac/temp`)
  for (let asked = 0; asked < 3; asked++) t.equal(await status(), 200)
  await server.hears(/a component works again component=stores\/AC/)
  server.child.kill('SIGTERM')
  await server.ended
  t.equal(server.said().match(/component=stores\/AC/g)?.length, 2, 'once each')
})
