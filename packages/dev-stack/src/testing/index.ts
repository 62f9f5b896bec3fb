export { FaultProxy } from './fault-proxy.ts';
export { type Fault, type RequestMatch } from './fault-rules.ts';
export { type HeldRequest, type HeldResponse } from './held-request.ts';
export { onParentDeath } from '../parent-death.ts';
export { type RecordedRequest } from './recorded-request.ts';
export { spawnCommand } from './spawn-command.ts';
export { spawnService, type ExitStatus, type SpawnedService, type SpawnOptions } from './spawn-service.ts';
export { TcpProxy } from './tcp-proxy.ts';
export { createTestDatabase, type TestDatabase } from './test-database.ts';
export {
  startTestAws,
  startTestStack,
  type TestAws,
  type TestStack,
  type TestStackWithAws,
} from './test-stack.ts';
