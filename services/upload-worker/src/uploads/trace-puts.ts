import type { Tracing } from '@pasteflow/runtime';
import type { ObjectStore } from '@pasteflow/s3';

type Puts = Pick<ObjectStore, 'put' | 'urlOf'>;

/** Each PutObject as a span; while tracing is off, the store itself. */
export function tracePuts(store: Puts, tracing: Tracing): Puts {
  if (!tracing.on) return store;
  return {
    put: (key, content, options) =>
      tracing.span(
        'put object',
        { kind: 'client', attributes: { 'aws.s3.key': key, 'pasteflow.size_bytes': content.length } },
        () => store.put(key, content, options),
      ),
    urlOf: (key) => store.urlOf(key),
  };
}
