import { PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { getEndpointFromInstructions } from '@smithy/core/endpoints';

/** Where the objects of a bucket are. */
export interface BucketAddress {
  readonly url: URL;
  /** What the path of each object begins with: empty, or the bucket when the host does not name it. */
  readonly basePath: string;
  readonly signingRegion: string;
}

/**
 * Resolved by the SDK's own rules: a custom endpoint, virtual hosts or paths, FIPS and dual-stack endpoints,
 * access points.
 * @returns null when requests to this bucket need another signature than SigV4, as directory buckets do
 */
export async function bucketAddress(client: S3Client, bucket: string): Promise<BucketAddress | null> {
  // The key has no influence, but the rules require one.
  const input = { Bucket: bucket, Key: 'any' };
  const { url, properties } = await getEndpointFromInstructions(
    input,
    PutObjectCommand,
    client.config as Parameters<typeof getEndpointFromInstructions>[2],
  );
  const [scheme] = (properties?.authSchemes ?? []) as { name: string; signingRegion?: string }[];
  if (scheme?.name !== 'sigv4') return null;
  return {
    url,
    basePath: url.pathname.replace(/\/$/, ''),
    signingRegion: scheme.signingRegion ?? (await client.config.region()),
  };
}

/** The path of an object: each part of the key is encoded as RFC 3986 says, as the signature requires. */
export function objectPath({ basePath }: Pick<BucketAddress, 'basePath'>, key: string): string {
  return `${basePath}/${key.split('/').map(encodePart).join('/')}`;
}

function encodePart(part: string): string {
  return encodeURIComponent(part).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
