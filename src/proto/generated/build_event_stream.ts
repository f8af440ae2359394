// Written by `npm run generate` from protos/. Do not edit.
import type * as google_protobuf from './google.protobuf.js'

export interface ConfigurationId {
  id: string
}

export interface ConfigurationIdInput {
  id?: string | undefined
}

export interface TargetId {
  label: string
  aspect: string
  configuration: ConfigurationId | null
}

export interface TargetIdInput {
  label?: string | undefined
  aspect?: string | undefined
  configuration?: ConfigurationIdInput | null | undefined
}

export interface ActionId {
  primaryOutput: string
  label: string
  configuration: ConfigurationId | null
}

export interface ActionIdInput {
  primaryOutput?: string | undefined
  label?: string | undefined
  configuration?: ConfigurationIdInput | null | undefined
}

export interface LabelId {
  label: string
  configuration: ConfigurationId | null
}

export interface LabelIdInput {
  label?: string | undefined
  configuration?: ConfigurationIdInput | null | undefined
}

export interface TestResultId {
  label: string
  run: number
  shard: number
  attempt: number
  configuration: ConfigurationId | null
}

export interface TestResultIdInput {
  label?: string | undefined
  run?: number | undefined
  shard?: number | undefined
  attempt?: number | undefined
  configuration?: ConfigurationIdInput | null | undefined
}

export interface PatternId {
  pattern: string[]
}

export interface PatternIdInput {
  pattern?: readonly string[] | undefined
}

export interface CommandLineId {
  commandLineLabel: string
}

export interface CommandLineIdInput {
  commandLineLabel?: string | undefined
}

export interface NamedSetId {
  id: string
}

export interface NamedSetIdInput {
  id?: string | undefined
}

export interface BuildEventId {
  pattern: PatternId | null
  targetCompleted: TargetId | null
  actionCompleted: ActionId | null
  testSummary: LabelId | null
  testResult: TestResultId | null
  patternSkipped: PatternId | null
  namedSet: NamedSetId | null
  configuration: ConfigurationId | null
  targetConfigured: TargetId | null
  structuredCommandLine: CommandLineId | null
  unconfiguredLabel: LabelId | null
  configuredLabel: LabelId | null
  targetSummary: LabelId | null
  /** Which one is set. */
  readonly id: 'pattern' | 'targetCompleted' | 'actionCompleted' | 'testSummary' | 'testResult' | 'patternSkipped' | 'namedSet' | 'configuration' | 'targetConfigured' | 'structuredCommandLine' | 'unconfiguredLabel' | 'configuredLabel' | 'targetSummary' | undefined
}

export interface BuildEventIdInput {
  pattern?: PatternIdInput | null | undefined
  targetCompleted?: TargetIdInput | null | undefined
  actionCompleted?: ActionIdInput | null | undefined
  testSummary?: LabelIdInput | null | undefined
  testResult?: TestResultIdInput | null | undefined
  patternSkipped?: PatternIdInput | null | undefined
  namedSet?: NamedSetIdInput | null | undefined
  configuration?: ConfigurationIdInput | null | undefined
  targetConfigured?: TargetIdInput | null | undefined
  structuredCommandLine?: CommandLineIdInput | null | undefined
  unconfiguredLabel?: LabelIdInput | null | undefined
  configuredLabel?: LabelIdInput | null | undefined
  targetSummary?: LabelIdInput | null | undefined
}

export interface Progress {
  stdout: string
  stderr: string
}

export interface ProgressInput {
  stdout?: string | undefined
  stderr?: string | undefined
}

export interface Aborted {
  reason: number
  description: string
}

export interface AbortedInput {
  reason?: number | undefined
  description?: string | undefined
}

export const AbortedAbortReason = {
  UNKNOWN: 0,
  USER_INTERRUPTED: 1,
  TIME_OUT: 2,
  REMOTE_ENVIRONMENT_FAILURE: 3,
  INTERNAL: 4,
  LOADING_FAILURE: 5,
  ANALYSIS_FAILURE: 6,
  SKIPPED: 7,
  NO_ANALYZE: 8,
  NO_BUILD: 9,
  INCOMPLETE: 10,
  OUT_OF_MEMORY: 11,
} as const

export interface PatternExpanded {
}

export interface PatternExpandedInput {
}

export interface BuildStarted {
  uuid: string
  startTimeMillis: number
  buildToolVersion: string
  optionsDescription: string
  command: string
  workingDirectory: string
  workspaceDirectory: string
  startTime: google_protobuf.Timestamp | null
}

export interface BuildStartedInput {
  uuid?: string | undefined
  startTimeMillis?: number | undefined
  buildToolVersion?: string | undefined
  optionsDescription?: string | undefined
  command?: string | undefined
  workingDirectory?: string | undefined
  workspaceDirectory?: string | undefined
  startTime?: google_protobuf.TimestampInput | null | undefined
}

export interface UnstructuredCommandLine {
  args: string[]
}

export interface UnstructuredCommandLineInput {
  args?: readonly string[] | undefined
}

export interface CommandLine {
  commandLineLabel: string
  sections: CommandLineSection[]
}

export interface CommandLineInput {
  commandLineLabel?: string | undefined
  sections?: readonly CommandLineSectionInput[] | undefined
}

export interface CommandLineSection {
  sectionLabel: string
  chunkList: CommandLineChunks | null
  optionList: CommandLineOptions | null
}

export interface CommandLineSectionInput {
  sectionLabel?: string | undefined
  chunkList?: CommandLineChunksInput | null | undefined
  optionList?: CommandLineOptionsInput | null | undefined
}

export interface CommandLineChunks {
  chunk: string[]
}

export interface CommandLineChunksInput {
  chunk?: readonly string[] | undefined
}

export interface CommandLineOptions {
  option: CommandLineOption[]
}

export interface CommandLineOptionsInput {
  option?: readonly CommandLineOptionInput[] | undefined
}

export interface CommandLineOption {
  combinedForm: string
  optionName: string
  optionValue: string
  source: string
}

export interface CommandLineOptionInput {
  combinedForm?: string | undefined
  optionName?: string | undefined
  optionValue?: string | undefined
  source?: string | undefined
}

export interface OptionsParsed {
  startupOptions: string[]
  explicitStartupOptions: string[]
  cmdLine: string[]
  explicitCmdLine: string[]
  toolTag: string
}

export interface OptionsParsedInput {
  startupOptions?: readonly string[] | undefined
  explicitStartupOptions?: readonly string[] | undefined
  cmdLine?: readonly string[] | undefined
  explicitCmdLine?: readonly string[] | undefined
  toolTag?: string | undefined
}

export interface WorkspaceStatus {
  item: WorkspaceStatusItem[]
}

export interface WorkspaceStatusInput {
  item?: readonly WorkspaceStatusItemInput[] | undefined
}

export interface WorkspaceStatusItem {
  key: string
  value: string
}

export interface WorkspaceStatusItemInput {
  key?: string | undefined
  value?: string | undefined
}

export interface BuildMetadata {
  metadata: Record<string, string>
}

export interface BuildMetadataInput {
  metadata?: Readonly<Record<string, string>> | undefined
}

export interface Configuration {
  mnemonic: string
  platformName: string
  cpu: string
}

export interface ConfigurationInput {
  mnemonic?: string | undefined
  platformName?: string | undefined
  cpu?: string | undefined
}

export interface TargetConfigured {
  targetKind: string
  testSize: number
  tag: string[]
}

export interface TargetConfiguredInput {
  targetKind?: string | undefined
  testSize?: number | undefined
  tag?: readonly string[] | undefined
}

export interface File {
  name: string
  uri: string
  contents: Buffer
  symlinkTargetPath: string
  pathPrefix: string[]
  digest: string
  length: number
  /** Which one is set. */
  readonly file: 'uri' | 'contents' | 'symlinkTargetPath' | undefined
}

export interface FileInput {
  name?: string | undefined
  uri?: string | undefined
  contents?: Uint8Array | undefined
  symlinkTargetPath?: string | undefined
  pathPrefix?: readonly string[] | undefined
  digest?: string | undefined
  length?: number | undefined
}

export interface FailureDetail {
  message: string
}

export interface FailureDetailInput {
  message?: string | undefined
}

export interface ActionExecuted {
  success: boolean
  exitCode: number
  stdout: File | null
  stderr: File | null
  label: string
  primaryOutput: File | null
  type: string
  commandLine: string[]
  failureDetail: FailureDetail | null
  startTime: google_protobuf.Timestamp | null
  endTime: google_protobuf.Timestamp | null
}

export interface ActionExecutedInput {
  success?: boolean | undefined
  exitCode?: number | undefined
  stdout?: FileInput | null | undefined
  stderr?: FileInput | null | undefined
  label?: string | undefined
  primaryOutput?: FileInput | null | undefined
  type?: string | undefined
  commandLine?: readonly string[] | undefined
  failureDetail?: FailureDetailInput | null | undefined
  startTime?: google_protobuf.TimestampInput | null | undefined
  endTime?: google_protobuf.TimestampInput | null | undefined
}

export interface OutputGroup {
  name: string
  fileSets: NamedSetId[]
  incomplete: boolean
  inlineFiles: File[]
}

export interface OutputGroupInput {
  name?: string | undefined
  fileSets?: readonly NamedSetIdInput[] | undefined
  incomplete?: boolean | undefined
  inlineFiles?: readonly FileInput[] | undefined
}

export interface NamedSetOfFiles {
  files: File[]
  fileSets: NamedSetId[]
}

export interface NamedSetOfFilesInput {
  files?: readonly FileInput[] | undefined
  fileSets?: readonly NamedSetIdInput[] | undefined
}

export interface TargetComplete {
  success: boolean
  outputGroup: OutputGroup[]
  tag: string[]
  targetKind: string
  failureDetail: FailureDetail | null
}

export interface TargetCompleteInput {
  success?: boolean | undefined
  outputGroup?: readonly OutputGroupInput[] | undefined
  tag?: readonly string[] | undefined
  targetKind?: string | undefined
  failureDetail?: FailureDetailInput | null | undefined
}

export const TestStatus = {
  NO_STATUS: 0,
  PASSED: 1,
  FLAKY: 2,
  TIMEOUT: 3,
  FAILED: 4,
  INCOMPLETE: 5,
  REMOTE_FAILURE: 6,
  FAILED_TO_BUILD: 7,
  TOOL_HALTED_BEFORE_TESTING: 8,
} as const

export interface TestResult {
  testActionOutput: File[]
  testAttemptDurationMillis: number
  cachedLocally: boolean
  status: number
  testAttemptStartMillisEpoch: number
  warning: string[]
  executionInfo: TestResultExecutionInfo | null
  statusDetails: string
  testAttemptStart: google_protobuf.Timestamp | null
  testAttemptDuration: google_protobuf.Duration | null
}

export interface TestResultInput {
  testActionOutput?: readonly FileInput[] | undefined
  testAttemptDurationMillis?: number | undefined
  cachedLocally?: boolean | undefined
  status?: number | undefined
  testAttemptStartMillisEpoch?: number | undefined
  warning?: readonly string[] | undefined
  executionInfo?: TestResultExecutionInfoInput | null | undefined
  statusDetails?: string | undefined
  testAttemptStart?: google_protobuf.TimestampInput | null | undefined
  testAttemptDuration?: google_protobuf.DurationInput | null | undefined
}

export interface TestResultExecutionInfo {
  strategy: string
  hostname: string
  cachedRemotely: boolean
  exitCode: number
}

export interface TestResultExecutionInfoInput {
  strategy?: string | undefined
  hostname?: string | undefined
  cachedRemotely?: boolean | undefined
  exitCode?: number | undefined
}

export interface TestSummary {
  totalRunCount: number
  passed: File[]
  failed: File[]
  overallStatus: number
  totalNumCached: number
  totalRunDurationMillis: number
  runCount: number
  shardCount: number
  totalRunDuration: google_protobuf.Duration | null
  attemptCount: number
}

export interface TestSummaryInput {
  totalRunCount?: number | undefined
  passed?: readonly FileInput[] | undefined
  failed?: readonly FileInput[] | undefined
  overallStatus?: number | undefined
  totalNumCached?: number | undefined
  totalRunDurationMillis?: number | undefined
  runCount?: number | undefined
  shardCount?: number | undefined
  totalRunDuration?: google_protobuf.DurationInput | null | undefined
  attemptCount?: number | undefined
}

export interface BuildFinished {
  overallSuccess: boolean
  finishTimeMillis: number
  exitCode: BuildFinishedExitCode | null
  finishTime: google_protobuf.Timestamp | null
  failureDetail: FailureDetail | null
}

export interface BuildFinishedInput {
  overallSuccess?: boolean | undefined
  finishTimeMillis?: number | undefined
  exitCode?: BuildFinishedExitCodeInput | null | undefined
  finishTime?: google_protobuf.TimestampInput | null | undefined
  failureDetail?: FailureDetailInput | null | undefined
}

export interface BuildFinishedExitCode {
  name: string
  code: number
}

export interface BuildFinishedExitCodeInput {
  name?: string | undefined
  code?: number | undefined
}

export interface BuildMetrics {
  actionSummary: BuildMetricsActionSummary | null
  memoryMetrics: BuildMetricsMemoryMetrics | null
  targetMetrics: BuildMetricsTargetMetrics | null
  packageMetrics: BuildMetricsPackageMetrics | null
  timingMetrics: BuildMetricsTimingMetrics | null
  artifactMetrics: BuildMetricsArtifactMetrics | null
}

export interface BuildMetricsInput {
  actionSummary?: BuildMetricsActionSummaryInput | null | undefined
  memoryMetrics?: BuildMetricsMemoryMetricsInput | null | undefined
  targetMetrics?: BuildMetricsTargetMetricsInput | null | undefined
  packageMetrics?: BuildMetricsPackageMetricsInput | null | undefined
  timingMetrics?: BuildMetricsTimingMetricsInput | null | undefined
  artifactMetrics?: BuildMetricsArtifactMetricsInput | null | undefined
}

export interface BuildMetricsActionSummary {
  actionsCreated: number
  actionsExecuted: number
  actionData: BuildMetricsActionSummaryActionData[]
  remoteCacheHits: number
  runnerCount: BuildMetricsActionSummaryRunnerCount[]
  actionCacheStatistics: BuildMetricsActionCacheStatistics | null
}

export interface BuildMetricsActionSummaryInput {
  actionsCreated?: number | undefined
  actionsExecuted?: number | undefined
  actionData?: readonly BuildMetricsActionSummaryActionDataInput[] | undefined
  remoteCacheHits?: number | undefined
  runnerCount?: readonly BuildMetricsActionSummaryRunnerCountInput[] | undefined
  actionCacheStatistics?: BuildMetricsActionCacheStatisticsInput | null | undefined
}

export interface BuildMetricsActionSummaryActionData {
  mnemonic: string
  actionsExecuted: number
  firstStartedMs: number
  lastEndedMs: number
}

export interface BuildMetricsActionSummaryActionDataInput {
  mnemonic?: string | undefined
  actionsExecuted?: number | undefined
  firstStartedMs?: number | undefined
  lastEndedMs?: number | undefined
}

export interface BuildMetricsActionSummaryRunnerCount {
  name: string
  count: number
  execKind: string
}

export interface BuildMetricsActionSummaryRunnerCountInput {
  name?: string | undefined
  count?: number | undefined
  execKind?: string | undefined
}

export interface BuildMetricsActionCacheStatistics {
  hits: number
  misses: number
  missDetails: BuildMetricsMissDetail[]
}

export interface BuildMetricsActionCacheStatisticsInput {
  hits?: number | undefined
  misses?: number | undefined
  missDetails?: readonly BuildMetricsMissDetailInput[] | undefined
}

export interface BuildMetricsMissDetail {
  reason: number
  count: number
}

export interface BuildMetricsMissDetailInput {
  reason?: number | undefined
  count?: number | undefined
}

export const BuildMetricsMissDetailMissReason = {
  DIFFERENT_ACTION_KEY: 0,
  DIFFERENT_DEPS: 1,
  DIFFERENT_ENVIRONMENT: 2,
  DIFFERENT_FILES: 3,
  CORRUPTED_CACHE_ENTRY: 4,
  NOT_CACHED: 5,
  UNCONDITIONAL_EXECUTION: 6,
} as const

export interface BuildMetricsMemoryMetrics {
  usedHeapSizePostBuild: number
  peakPostGcHeapSize: number
}

export interface BuildMetricsMemoryMetricsInput {
  usedHeapSizePostBuild?: number | undefined
  peakPostGcHeapSize?: number | undefined
}

export interface BuildMetricsTargetMetrics {
  targetsConfigured: number
}

export interface BuildMetricsTargetMetricsInput {
  targetsConfigured?: number | undefined
}

export interface BuildMetricsPackageMetrics {
  packagesLoaded: number
}

export interface BuildMetricsPackageMetricsInput {
  packagesLoaded?: number | undefined
}

export interface BuildMetricsTimingMetrics {
  cpuTimeInMs: number
  wallTimeInMs: number
  analysisPhaseTimeInMs: number
  executionPhaseTimeInMs: number
}

export interface BuildMetricsTimingMetricsInput {
  cpuTimeInMs?: number | undefined
  wallTimeInMs?: number | undefined
  analysisPhaseTimeInMs?: number | undefined
  executionPhaseTimeInMs?: number | undefined
}

export interface BuildMetricsArtifactMetrics {
  outputArtifactsSeen: BuildMetricsArtifactMetricsFilesMetric | null
}

export interface BuildMetricsArtifactMetricsInput {
  outputArtifactsSeen?: BuildMetricsArtifactMetricsFilesMetricInput | null | undefined
}

export interface BuildMetricsArtifactMetricsFilesMetric {
  sizeInBytes: number
  count: number
}

export interface BuildMetricsArtifactMetricsFilesMetricInput {
  sizeInBytes?: number | undefined
  count?: number | undefined
}

export interface BuildToolLogs {
  log: File[]
}

export interface BuildToolLogsInput {
  log?: readonly FileInput[] | undefined
}

export interface BuildEvent {
  id: BuildEventId | null
  children: BuildEventId[]
  lastMessage: boolean
  progress: Progress | null
  aborted: Aborted | null
  started: BuildStarted | null
  expanded: PatternExpanded | null
  action: ActionExecuted | null
  completed: TargetComplete | null
  testSummary: TestSummary | null
  testResult: TestResult | null
  unstructuredCommandLine: UnstructuredCommandLine | null
  optionsParsed: OptionsParsed | null
  finished: BuildFinished | null
  namedSetOfFiles: NamedSetOfFiles | null
  workspaceStatus: WorkspaceStatus | null
  configuration: Configuration | null
  configured: TargetConfigured | null
  structuredCommandLine: CommandLine | null
  buildToolLogs: BuildToolLogs | null
  buildMetrics: BuildMetrics | null
  buildMetadata: BuildMetadata | null
  /** Which one is set. */
  readonly payload: 'progress' | 'aborted' | 'started' | 'expanded' | 'action' | 'completed' | 'testSummary' | 'testResult' | 'unstructuredCommandLine' | 'optionsParsed' | 'finished' | 'namedSetOfFiles' | 'workspaceStatus' | 'configuration' | 'configured' | 'structuredCommandLine' | 'buildToolLogs' | 'buildMetrics' | 'buildMetadata' | undefined
}

export interface BuildEventInput {
  id?: BuildEventIdInput | null | undefined
  children?: readonly BuildEventIdInput[] | undefined
  lastMessage?: boolean | undefined
  progress?: ProgressInput | null | undefined
  aborted?: AbortedInput | null | undefined
  started?: BuildStartedInput | null | undefined
  expanded?: PatternExpandedInput | null | undefined
  action?: ActionExecutedInput | null | undefined
  completed?: TargetCompleteInput | null | undefined
  testSummary?: TestSummaryInput | null | undefined
  testResult?: TestResultInput | null | undefined
  unstructuredCommandLine?: UnstructuredCommandLineInput | null | undefined
  optionsParsed?: OptionsParsedInput | null | undefined
  finished?: BuildFinishedInput | null | undefined
  namedSetOfFiles?: NamedSetOfFilesInput | null | undefined
  workspaceStatus?: WorkspaceStatusInput | null | undefined
  configuration?: ConfigurationInput | null | undefined
  configured?: TargetConfiguredInput | null | undefined
  structuredCommandLine?: CommandLineInput | null | undefined
  buildToolLogs?: BuildToolLogsInput | null | undefined
  buildMetrics?: BuildMetricsInput | null | undefined
  buildMetadata?: BuildMetadataInput | null | undefined
}
