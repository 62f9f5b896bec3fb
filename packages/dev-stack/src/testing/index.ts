export { copyRunningPostgres } from './copy-postgres.ts';
export { FaultProxy } from './fault-proxy.ts';
export { withHeader, type RequestMatch } from './fault-rules.ts';
export { type HeldRequest } from './held-request.ts';
export { urlOfService } from '../postgres/service-roles.ts';
export { seededRandom } from './seeded-random.ts';
export { spawnCommand, spawnService, UNSAFE_POSTGRES } from './spawn-service.ts';
export { spawnProgram, type ExitStatus, type SpawnedProcess } from './spawned-process.ts';
export { startStandby, type Standby } from './standby.ts';
export { TcpProxy } from './tcp-proxy.ts';
export { createTestDatabase } from './test-database.ts';
export {
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
