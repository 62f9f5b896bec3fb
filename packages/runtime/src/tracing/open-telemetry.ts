import { diag, DiagLogLevel, type DiagLogger } from '@opentelemetry/api';
import {
  defaultResource,
  resourceAttributesEnvDetector,
  resourceFromAttributes,
  serviceNameEnvDetector,
} from '@opentelemetry/resources';
import { NodeSDK } from '@opentelemetry/sdk-node';
import type { Logger } from '../logging/logger.ts';
import { sleep } from '../backoff.ts';
import { reasonOf, turnTracingOn } from './spans.ts';
import { recordStatement } from './statement-spans.ts';
import type { TracedProcess, Tracing } from './tracing.ts';

/** Every export fails while the collector is away, several a minute. They are logged once a minute. */
const WARN_EVERY_MS = 60_000;

/**
 * Starts the SDK, which exports spans over OTLP/HTTP and reads its other settings from the environment. No
 * instrumentation is loaded: patching modules is fragile with ESM, and shows requests where operators look
 * for uploads.
 */
export function startOpenTelemetry({ service, instance, logger }: TracedProcess): Tracing {
  const sdk = new NodeSDK({
    resource: defaultResource().merge(
      resourceFromAttributes({
        'service.namespace': 'pasteflow',
        'service.name': service,
        'service.instance.id': instance,
      }),
    ),
    // The other detectors would export the command line, which may hold secrets.
    resourceDetectors: [resourceAttributesEnvDetector, serviceNameEnvDetector],
    metricReaders: [], // Prometheus reads the metrics.
    logRecordProcessors: [],
    instrumentations: [],
  });
  diag.setLogger(warningsTo(logger), { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
  sdk.start();
  turnTracingOn();
  return { onStatement: recordStatement, stop: (withinMs) => shutDown(sdk, logger, withinMs) };
}

async function shutDown(sdk: NodeSDK, logger: Logger, withinMs: number): Promise<void> {
  const ended = new AbortController();
  const flushed = sdk.shutdown().then(
    () => true,
    (error: unknown) => {
      logger.warn('last spans could not be sent', { reason: reasonOf(error) });
      return true;
    },
  );
  const inTime = await Promise.race([flushed, sleep(withinMs, ended.signal).then(() => false)]);
  ended.abort();
  if (!inTime) logger.warn('last spans could not be sent', { reason: `not within ${withinMs} ms` });
}

/** Logs the warnings and errors of the SDK. The SDK reports a failed export as the JSON of its error. */
function warningsTo(logger: Logger): DiagLogger {
  const ignore = (): void => {};
  let lastAt = -Infinity;
  let suppressed = 0;
  const warn = (message: string): void => {
    const now = performance.now();
    if (now - lastAt < WARN_EVERY_MS) {
      suppressed += 1;
      return;
    }
    logger.warn('spans could not be exported', {
      reason: reasonOf(messageOf(message)),
      ...(suppressed > 0 && { suppressed }),
    });
    lastAt = now;
    suppressed = 0;
  };
  return { error: warn, warn, info: ignore, debug: ignore, verbose: ignore };
}

function messageOf(text: string): string {
  try {
    const { message } = JSON.parse(text) as { message?: unknown };
    return typeof message === 'string' ? message : text;
  } catch {
    return text;
  }
}
