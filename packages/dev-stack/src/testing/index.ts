export { FaultProxy } from './fault-proxy.ts';
export { type RequestMatch } from './fault-rules.ts';
export { type HeldRequest } from './held-request.ts';
export { onParentDeath } from '../parent-death.ts';
export { urlOfService } from '../postgres/service-roles.ts';
export { spawnCommand } from './spawn-command.ts';
export { spawnService, type ExitStatus, type SpawnedService } from './spawn-service.ts';
export { TcpProxy } from './tcp-proxy.ts';
export { createTestDatabase } from './test-database.ts';
export {
  startTestAws,
  startTestStack,
  type TestAws,
  type TestStack,
  type TestStackWithAws,
} from './test-stack.ts';
