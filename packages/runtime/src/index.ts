export { backoffMs, defaultBackoff, sleep, type Sleep } from './backoff.ts';
export { Batcher } from './batcher.ts';
export { tracingEnv } from './config/tracing-env.ts';
export { ConfigError, groups, loadConfig, setting, type Environment } from './config/load-config.ts';
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
  secret,
  text,
  url,
  variable,
  type Variable,
} from './config/variables.ts';
export { type SettingNames } from './config/unknown-settings.ts';
export { HealthServer, metricsEnv, isLoopback, listen } from './health/health-server.ts';
export { Readiness, type Check } from './health/readiness.ts';
export { Lifecycle, StartError, type Component } from './lifecycle.ts';
export {
  runCommand,
  runService,
  type ServiceContext,
  EXIT_CONFIG,
  instanceId,
  type Entry,
} from './entry/run.ts';
export { createLogger, logEnv, type LogConfig, type LogFields, type Logger } from './logging/logger.ts';
export { outliveOutput } from './logging/lossy-output.ts';
export { redact, redactText } from './logging/redact.ts';
export { Metrics, registerPoolMetrics, type Sample } from './metrics.ts';
export { PollLoop, warnDaily } from './poll-loop.ts';
export { StartCheck } from './start-check.ts';
export {
  failSpan,
  isTracing,
  remoteParent,
  runInSpan,
  runOutsideSpans,
  TRACEPARENT,
  traceIdOf,
  tracer,
  traceparentOf,
  withSpan,
  messageSpans,
} from './tracing/spans.ts';
export { tracingOff } from './tracing/tracing.ts';
