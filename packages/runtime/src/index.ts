export { backoffMs, defaultBackoff, type Backoff } from './backoff.ts';
export { metricsEnv, type MetricsConfig } from './config/metrics-env.ts';
export { tracingEnv, type TracingConfig } from './config/tracing-env.ts';
export { ConfigError, groups, loadConfig, type Environment } from './config/load-config.ts';
export {
  flag,
  httpUrl,
  intervalSeconds,
  listOf,
  milliseconds,
  millisecondsList,
  nonNegativeInteger,
  oneOf,
  port,
  positiveInteger,
  seconds,
  text,
  url,
  variable,
  type Variable,
} from './config/variables.ts';
export { HealthServer } from './health/health-server.ts';
export { listen, type ListenOptions } from './health/listen.ts';
export {
  Readiness,
  type Check,
  type CheckState,
  type ReadinessOptions,
  type ReadinessReport,
} from './health/readiness.ts';
export { instanceId } from './instance.ts';
export { type Component } from './lifecycle/component.ts';
export { EXIT_CONFIG, type Entry, type EntryConfig } from './entry/entry.ts';
export { Lifecycle } from './lifecycle/lifecycle.ts';
export { runCommand, type CommandOptions } from './entry/run-command.ts';
export { runService, type ServiceContext, type ServiceOptions } from './entry/run-service.ts';
export { StartError } from './lifecycle/start-error.ts';
export { logEnv, logLevels, type LogConfig, type LogLevel } from './logging/log-env.ts';
export { createLogger, type LogFields, type Logger, type LoggerOptions } from './logging/logger.ts';
export { redact } from './logging/redact.ts';
export { Metrics, type MetricShape, type Sample } from './metrics.ts';
export { showPools, type PoolUse } from './pool-metrics.ts';
export { PollLoop, type PollLoopOptions } from './poll-loop.ts';
export { sleep, type Sleep } from './sleep.ts';
export { messageSpans, type MessageSpansOptions } from './tracing/message-spans.ts';
export {
  failSpan,
  remoteParent,
  runInSpan,
  runOutsideSpans,
  tracer,
  traceparentOf,
  withSpan,
} from './tracing/spans.ts';
export { tracingOff, type Tracing } from './tracing/tracing.ts';
export { TRACEPARENT, traceIdOf } from './tracing/traceparent.ts';
