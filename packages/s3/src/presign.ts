import { GetObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { attachmentAs } from './content-disposition.ts';
import { unavailable } from './errors.ts';

export interface PresignOptions {
  /** From now on; S3 takes up to 7 days. */
  readonly expiresInSeconds: number;
  /** What a browser saves it as. */
  readonly downloadName: string;
  /** Another content type than the object was stored with. */
  readonly contentType?: string | undefined;
}

export async function presign(
  client: S3Client,
  bucket: string,
  key: string,
  { expiresInSeconds, downloadName, contentType }: PresignOptions,
): Promise<string> {
  const command = new GetObjectCommand({
    Bucket: bucket,
    Key: key,
    ResponseContentDisposition: attachmentAs(downloadName),
    ...(contentType !== undefined && { ResponseContentType: contentType }),
  });
  try {
    return await getSignedUrl(client, command, { expiresIn: expiresInSeconds });
  } catch (error) {
    throw unavailable(error);
  }
}
