import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A span as the collector received it. */
export interface ExportedSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** Empty for the root span of a trace. */
  readonly parentSpanId: string;
  readonly name: string;
  /** The service and the instance that sent the span. */
  readonly service: string;
  readonly instance: string;
  readonly failed: boolean;
  readonly attributes: Readonly<Record<string, unknown>>;
  /** The ids of linked spans of other traces. */
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly startedAt: bigint;
}

/** The part of https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding that the tests read. */
interface Attribute {
  readonly key: string;
  readonly value: { stringValue?: string; intValue?: number | string; boolValue?: boolean };
}
interface ExportRequest {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] };
    readonly scopeSpans: readonly { readonly spans: readonly WireSpan[] }[];
  }[];
}
interface WireSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly startTimeUnixNano: string;
  readonly status?: { readonly code?: number };
  readonly attributes?: readonly Attribute[];
  readonly links?: readonly { readonly traceId: string; readonly spanId: string }[];
}

/** Receives spans by OTLP/HTTP in JSON, as an OpenTelemetry collector does on port 4318. */
export class Collector {
  readonly spans: ExportedSpan[] = [];
  /** All received bodies, for tests that search them for secrets. */
  received = '';
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((req, res) => {
      void this.#take(req).then((status) => {
        res.writeHead(status, { 'Content-Type': 'application/json' }).end('{}');
      });
    });
  }

  static async start(): Promise<Collector> {
    const collector = new Collector();
    await new Promise<void>((resolve) => collector.#server.listen(0, '127.0.0.1', resolve));
    return collector;
  }

  /** The environment that makes a service send its spans here, with a short delay. */
  get env(): Record<string, string> {
    const { port } = this.#server.address() as AddressInfo;
    return {
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_BSP_SCHEDULE_DELAY: '50',
    };
  }

  /**
   * The spans of a trace, indented below their parents: `['api POST /v1/pastes', '  api INSERT pastes', …]`.
   * `!` marks a failed span.
   */
  tree(traceId: string): string[] {
    const spans = this.spans.filter((span) => span.traceId === traceId);
    const ids = new Set(spans.map(({ spanId }) => spanId));
    const below = (parents: readonly ExportedSpan[], depth: number): string[] =>
      parents
        .toSorted((one, other) => Number(one.startedAt - other.startedAt))
        .flatMap((span) => [
          `${'  '.repeat(depth)}${span.service} ${span.name}${span.failed ? '!' : ''}`,
          ...below(
            spans.filter(({ parentSpanId }) => parentSpanId === span.spanId),
            depth + 1,
          ),
        ]);
    const roots = spans.filter(({ parentSpanId }) => !ids.has(parentSpanId));
    return below(roots, 0);
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #take(req: IncomingMessage): Promise<number> {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    if (req.method !== 'POST' || req.url !== '/v1/traces') return 404;
    const text = Buffer.concat(chunks).toString();
    this.received += text;
    for (const { resource, scopeSpans } of (JSON.parse(text) as ExportRequest).resourceSpans) {
      const { 'service.name': service, 'service.instance.id': instance } = valuesOf(resource.attributes);
      for (const span of scopeSpans.flatMap(({ spans }) => spans))
        this.spans.push(toSpan(span, String(service), String(instance)));
    }
    return 200;
  }
}

function toSpan(span: WireSpan, service: string, instance: string): ExportedSpan {
  const { traceId, spanId, parentSpanId = '', name, links = [] } = span;
  return {
    traceId,
    spanId,
    parentSpanId,
    name,
    service,
    instance,
    failed: span.status?.code === 2,
    attributes: valuesOf(span.attributes ?? []),
    links,
    startedAt: BigInt(span.startTimeUnixNano),
  };
}

function valuesOf(attributes: readonly Attribute[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}
