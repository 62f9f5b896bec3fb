import type { Tracing } from '@pasteflow/runtime';
import type { ObjectStore } from '@pasteflow/s3';

type Reads = Pick<ObjectStore, 'get' | 'presign'>;

/** Each GetObject as a span, until S3 answers with headers; while tracing is off, the store itself. */
export function tracedReads(store: Reads, tracing: Tracing): Reads {
  if (!tracing.on) return store;
  return {
    get: (key, options) =>
      tracing.span('get object', { kind: 'client', attributes: { 'aws.s3.key': key } }, () =>
        store.get(key, options),
      ),
    presign: (...presigned) => store.presign(...presigned),
  };
}
