import { SpanKind } from '@opentelemetry/api';
import { withSpan } from '@pasteflow/runtime';
import type { ObjectStore } from '@pasteflow/s3';

type Reads = Pick<ObjectStore, 'get' | 'presign'>;

/** Each GetObject becomes a span that ends when the headers of S3's response arrive. */
export function tracedReads(store: Reads): Reads {
  return {
    get: (key, options) =>
      withSpan('get object', { kind: SpanKind.CLIENT, attributes: { 'aws.s3.key': key } }, () =>
        store.get(key, options),
      ),
    presign: (...presigned) => store.presign(...presigned),
  };
}
