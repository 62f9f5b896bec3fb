import { GetObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { attachmentAs } from './content-disposition.ts';
import { unavailable } from './errors.ts';

export interface PresignOptions {
  /** Lifetime from now on. S3 allows up to 7 days. */
  readonly expiresInSeconds: number;
  /** The file name under which a browser saves the object. */
  readonly downloadName: string;
  /** Overrides the content type that the object was stored with. */
  readonly contentType?: string | undefined;
}

export async function presign(
  client: S3Client,
  { bucket, key, now }: { bucket: string; key: string; now: Date },
  { expiresInSeconds, downloadName, contentType }: PresignOptions,
): Promise<string> {
  const command = new GetObjectCommand({
    Bucket: bucket,
    Key: key,
    ResponseContentDisposition: attachmentAs(downloadName),
    ...(contentType !== undefined && { ResponseContentType: contentType }),
  });
  try {
    return await getSignedUrl(client, command, { expiresIn: expiresInSeconds, signingDate: now });
  } catch (error) {
    throw unavailable(error);
  }
}
