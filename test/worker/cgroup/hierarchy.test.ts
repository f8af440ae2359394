import t from 'tap'
import { groupIn } from '../../../src/worker/cgroup/hierarchy.js'

const mount = (root: string, point: string, type = 'cgroup2'): string =>
  `24 1 0:22 / /proc rw - proc proc rw\n35 24 0:30 ${root} ${point} rw,nosuid shared:4 - ${type} cgroup rw`

t.test('the control group of a process is where its hierarchy is mounted', async (t) => {
  const service = '0::/system.slice/remexec.service\n'
  t.same(groupIn(service, mount('/', '/sys/fs/cgroup')), {
    path: '/sys/fs/cgroup/system.slice/remexec.service',
    isTop: false,
  })
  t.same(groupIn(`4:memory:/other\n${service}`, mount('/', '/sys/fs/cgroup/unified')), {
    path: '/sys/fs/cgroup/unified/system.slice/remexec.service',
    isTop: false,
  })
  t.same(groupIn('0::/\n', mount('/', '/sys/fs/cgroup')), { path: '/sys/fs/cgroup', isTop: true }, 'all of a machine')
  t.same(
    groupIn('0::/docker/abc\n', mount('/docker/abc', '/sys/fs/cgroup')),
    { path: '/sys/fs/cgroup', isTop: true },
    'all that a container sees',
  )
  t.same(groupIn('0::/a/b\n', mount('/a', '/with\\040space')), { path: '/with space/b', isTop: false })
})

t.test('there is no such group without version 2, or outside of what is mounted', async (t) => {
  t.equal(groupIn('4:memory:/x\n', mount('/', '/sys/fs/cgroup')), undefined)
  t.equal(groupIn('0::/x\n', mount('/', '/sys/fs/cgroup/memory', 'cgroup')), undefined)
  t.equal(groupIn('0::/ab\n', mount('/a', '/sys/fs/cgroup')), undefined, 'another group whose name begins the same')
  t.equal(groupIn('0::/../x\n', mount('/', '/sys/fs/cgroup')), undefined, 'above the root of the namespace')
})
