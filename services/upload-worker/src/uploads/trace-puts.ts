import { SpanKind } from '@opentelemetry/api';
import { withSpan } from '@pasteflow/runtime';
import type { ObjectStore } from '@pasteflow/s3';

type Puts = Pick<ObjectStore, 'put' | 'urlOf'>;

/** Each PutObject becomes a span. */
export function tracePuts(store: Puts): Puts {
  return {
    put: (key, content, options) =>
      withSpan(
        'put object',
        {
          kind: SpanKind.CLIENT,
          attributes: { 'aws.s3.key': key, 'pasteflow.size_bytes': content.length },
        },
        () => store.put(key, content, options),
      ),
    urlOf: (key) => store.urlOf(key),
  };
}
