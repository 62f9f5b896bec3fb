export { backoffMs, defaultBackoff, sleep, type Sleep } from './backoff.ts';
export { Batcher } from './batcher.ts';
export { metricsEnv } from './config/metrics-env.ts';
export { tracingEnv } from './config/tracing-env.ts';
export { isLoopback } from './config/loopback.ts';
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
export { HealthServer } from './health/health-server.ts';
export { listen } from './health/listen.ts';
export { Readiness, type Check } from './health/readiness.ts';
export { type Component } from './lifecycle/component.ts';
export { EXIT_CONFIG, instanceId, type Entry } from './entry/entry.ts';
export { Lifecycle } from './lifecycle/lifecycle.ts';
export { runCommand } from './entry/run-command.ts';
export { runService, type ServiceContext } from './entry/run-service.ts';
export { StartError } from './lifecycle/start-error.ts';
export { createLogger, logEnv, type LogConfig, type LogFields, type Logger } from './logging/logger.ts';
export { outliveOutput } from './logging/lossy-output.ts';
export { redact } from './logging/redact.ts';
export { Metrics, registerPoolMetrics, type Sample } from './metrics.ts';
export { PollLoop, type PollLoopOptions } from './poll-loop.ts';
export { StartCheck } from './start-check.ts';
export { warnDaily } from './warn-daily.ts';
export { messageSpans } from './tracing/message-spans.ts';
export {
  failSpan,
  remoteParent,
  runInSpan,
  runOutsideSpans,
  TRACEPARENT,
  traceIdOf,
  tracer,
  traceparentOf,
  withSpan,
} from './tracing/spans.ts';
export { tracingOff } from './tracing/tracing.ts';
