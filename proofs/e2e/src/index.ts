export { externalEndpoints } from './aws.ts';
export { Cluster, runOps, startCluster, type User } from './cluster.ts';
export { Collector, type ExportedSpan } from './collector.ts';
export { cpuSecondsOf, coreTime, idleShare, memoryOf, resetPeakMemory } from './usage.ts';
export { curl, pythonPackage, unzip } from './programs.ts';
export {
  entryOf,
  MIGRATE_ENTRY,
  OBSERVABILITY_FOLDER,
  OPS_ENTRY,
  ROOT,
  RUNBOOK,
  SETTINGS_EXAMPLE,
  TOKEN_ENTRY,
  type ServiceName,
} from './entries.ts';
export { Load } from './http.ts';
export { ForgetfulDisk, SmallDisk } from './disks.ts';
export { installPrograms, OneMachine, oneMachineSettings } from './one-machine.ts';
export { isPgbouncerRequired, Pgbouncer } from './pgbouncer.ts';
export { isPrometheusRequired, Prometheus, promtool, selectorsIn } from './prometheus.ts';
export { findCopies, findTraces } from './find-copies.ts';
export { findViolations } from './find-violations.ts';
export { Service } from './service.ts';
export { StackProcess, startStack, type RestartableStack, type Stack } from './stacks.ts';
export { isLibfaketimeRequired, WrongClock } from './wrong-clock.ts';
export { visibilityChanges } from './queues.ts';
