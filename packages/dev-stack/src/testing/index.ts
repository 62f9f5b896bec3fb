export { FaultProxy } from './fault-proxy.ts';
export { type HeldRequest, type RequestMatch, withHeader } from './fault-rules.ts';
export { writeHouseFile } from './house-file.ts';
export { hostileFileNames } from './hostile-file-names.ts';
export { urlOfService } from '../postgres/service-roles.ts';
export { expectedSignature, sentSignature, startRecordingServer } from './recording-server.ts';
export { seededRandom } from './seeded-random.ts';
export {
  type ExitStatus,
  spawnCommand,
  type SpawnedProcess,
  spawnProgram,
  spawnService,
  UNSAFE_POSTGRES,
} from './spawn-service.ts';
export { copyRunningPostgres, type Standby, startStandby } from './standby.ts';
export { TcpProxy } from './tcp-proxy.ts';
export { createTestDatabase } from './test-database.ts';
export {
  callSqs,
  startSharedTestPostgres,
  startSharedTestStack,
  startTestAws,
  startTestPostgres,
  startTestStack,
  temporaryFolder,
  type SharedTestPostgres,
  type SharedTestStack,
  type TestAws,
  type TestPostgres,
  type TestStack,
} from './test-stack.ts';
export { metricOf, scrape, type MetricSample } from './metrics.ts';
export { BUSY_MACHINE_MS, until, type UntilOptions } from './until.ts';
