import {
  AbortMultipartUploadCommand,
  ListMultipartUploadsCommand,
  type ListMultipartUploadsCommandOutput,
  type S3Client,
} from '@aws-sdk/client-s3';
import { isNotFound, isUnknownRequest, unavailable } from './errors.ts';

/**
 * A multipart upload that was neither completed nor aborted. Its parts use storage, which costs money, but
 * `list` does not return them.
 */
export interface OpenUpload {
  readonly key: string;
  readonly uploadId: string;
  readonly initiatedAt: Date;
}

/**
 * Yields nothing for a store that doesn't know this request, although it may hold parts: its bucket needs a
 * lifecycle rule.
 */
export async function* listMultipartUploads(
  client: S3Client,
  bucket: string,
  prefix: string,
): AsyncGenerator<readonly OpenUpload[]> {
  let marker: { KeyMarker: string; UploadIdMarker: string } | undefined;
  do {
    let page: ListMultipartUploadsCommandOutput;
    try {
      page = await client.send(
        new ListMultipartUploadsCommand({ Bucket: bucket, Prefix: prefix, ...marker }),
      );
    } catch (error) {
      if (isUnknownRequest(error)) return;
      throw unavailable(error);
    }
    yield (page.Uploads ?? []).flatMap(({ Key, UploadId, Initiated }) =>
      Key !== undefined && UploadId !== undefined && Initiated !== undefined
        ? [{ key: Key, uploadId: UploadId, initiatedAt: Initiated }]
        : [],
    );
    const { IsTruncated, NextKeyMarker, NextUploadIdMarker } = page;
    marker =
      IsTruncated === true && NextKeyMarker !== undefined && NextUploadIdMarker !== undefined
        ? { KeyMarker: NextKeyMarker, UploadIdMarker: NextUploadIdMarker }
        : undefined;
  } while (marker !== undefined);
}

export async function abortMultipartUpload(
  client: S3Client,
  bucket: string,
  { key, uploadId }: Pick<OpenUpload, 'key' | 'uploadId'>,
): Promise<void> {
  try {
    await client.send(new AbortMultipartUploadCommand({ Bucket: bucket, Key: key, UploadId: uploadId }));
  } catch (error) {
    if (!isNotFound(error)) throw unavailable(error);
  }
}
