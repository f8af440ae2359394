/** A session as of CI: 30 builds by one Bazel, each from nothing, of which most change one thing. The pages name what. */
import t, { type Test } from 'tap'
import { bazelRelease } from './bazel.js'
import { type Workspace, world, write } from './miss-world.js'

// For changes in: src/misses, src/pages/misses, src/rpc/request-records.ts

const BUILDS = 30

t.setTimeout(1_800_000)

type State = Workspace & { readonly mark?: string }

const CONSEQUENCE = '1 of 4: inputs that other misses of this build made differ (a consequence of other misses)'

/** What a build changes, with a value that no build before had, and the causes that its page must name. */
const CHANGES: readonly ((state: State, value: string) => readonly [State, readonly (string | RegExp)[]])[] = [
  (state, value) => [{ ...state, leaf: value }, ['3 of 4: input leaf.txt changed', CONSEQUENCE]],
  (state) => [state, []],
  (state, value) => [{ ...state, option: value }, [/^3 of 4: argument "….*" became "….*"$/, CONSEQUENCE]],
  (state, value) => [{ ...state, pool: value }, [`3 of 3: platform: pool was ${state.pool}, is ${value}`]],
  (state, value) => [
    { ...state, mark: value },
    [`4 of 4: environment: MARK ${state.mark === undefined ? 'is new' : 'differs'}`],
  ],
  // What the first build was is in the cache still.
  () => [FIRST, []],
]

const FIRST: State = { option: 'a', leaf: 'a', pool: 'a' }

const session = async (t: Test, program: string): Promise<void> => {
  const { server, bazel, workspace, build } = await world(t, program)
  let state = FIRST
  let expected: readonly (string | RegExp)[] = ['4 of 4: never built here']
  for (let number = 0; number < BUILDS; number++) {
    if (number > 0) {
      const change = CHANGES[(number - 1) % CHANGES.length] as (typeof CHANGES)[number]
      ;[state, expected] = change(state, `value-${number}`)
      await bazel.clean()
    }
    await write(workspace, state)
    const flags = state.mark === undefined ? [] : [`--action_env=MARK=${state.mark}`]
    const { causes } = await build([`--remote_executor=${server.uri}`, ...flags])
    t.equal(causes.length, expected.length, `build ${number}: ${causes.join('; ')}`)
    t.match(causes, expected, `build ${number}`)
  }
}

const program = process.env['REMEXEC_TEST_BAZEL_7'] ?? 'bazel-7'
const release = await bazelRelease(program)
const skip = release?.startsWith('7.') ? false : `needs Bazel 7 and found ${release}: name one in REMEXEC_TEST_BAZEL_7`
t.test(`Bazel ${release}: ${BUILDS} builds`, { skip }, (t) => session(t, program))
