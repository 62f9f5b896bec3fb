export { expectedSignature, sentSignature } from './expected-signature.ts';
export { FaultProxy } from './fault-proxy.ts';
export { withHeader, type RequestMatch } from './fault-rules.ts';
export { type HeldRequest } from './held-request.ts';
export { onParentDeath } from '../parent-death.ts';
export { urlOfService } from '../postgres/service-roles.ts';
export { startRecordingServer } from './recording-server.ts';
export { spawnCommand } from './spawn-command.ts';
export { spawnService, type ExitStatus, type SpawnedService } from './spawn-service.ts';
export { startStandby, type Standby } from './standby.ts';
export { TcpProxy } from './tcp-proxy.ts';
export { createTestDatabase } from './test-database.ts';
export { UNSAFE_POSTGRES } from './unsafe-postgres.ts';
export {
  startSharedTestPostgres,
  startSharedTestStack,
  startTestAws,
  startTestStack,
  temporaryFolder,
  type SharedTestStack,
  type SharedTestStackWithAws,
  type TestAws,
  type TestStack,
  type TestStackWithAws,
} from './test-stack.ts';
