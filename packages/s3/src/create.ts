import { hash } from 'node:crypto';
import { createS3Client } from './client.ts';
import { DirectIfPossible, type DirectIfPossibleOptions } from './direct/direct-requests.ts';
import { SdkRequests } from './object-requests.ts';
import { ObjectStore } from './object-store.ts';

export interface ObjectStoreOptions extends DirectIfPossibleOptions {
  readonly bucket: string;
  /**
   * The endpoint of presigned URLs, when clients reach S3 under another address than this process. It must be
   * known before signing: a signature is valid for one host only, so a URL cannot be rewritten afterwards.
   */
  readonly publicEndpoint?: string | undefined;
  /** How puts and gets are sent. Default: `sdk`. */
  readonly requests?: S3Requests;
}

/** The line of the log for `onDirectRefused`. */
export const DIRECT_REFUSED =
  'S3 refuses direct requests and grants those of the SDK: S3_REQUESTS=sdk from now on';

/**
 * `direct`: signed and sent without the middleware of the AWS SDK, which takes four fifths of their CPU time.
 */
type S3Requests = 'direct' | 'sdk';

/**
 * Creates an object store with its own client. Call `close()` at the end.
 * @throws when Node has no MD5, so that the service does not start
 */
export function createObjectStore({
  bucket,
  publicEndpoint,
  requests = 'sdk',
  ...options
}: ObjectStoreOptions): ObjectStore {
  assertMd5();
  const client = createS3Client(options);
  return new ObjectStore({
    bucket,
    client,
    requests:
      requests === 'direct' ? new DirectIfPossible(client, bucket, options) : new SdkRequests(client, bucket),
    signing: publicEndpoint === undefined ? client : createS3Client({ ...options, endpoint: publicEndpoint }),
  });
}

function assertMd5(): void {
  try {
    hash('md5', '');
  } catch (cause) {
    throw new Error(
      'Node has no MD5, which each put to S3 needs (Content-MD5). Start Node without FIPS mode.',
      { cause },
    );
  }
}
