import type { Readable } from 'node:stream';
import {
  AbortMultipartUploadCommand,
  CreateMultipartUploadCommand,
  PutObjectCommand,
  UploadPartCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { unavailable } from './errors.ts';

/** S3 takes up to 10,000 parts, so that an object may have 78 GiB. */
const PART_BYTES = 8 * 1024 * 1024;

/** Or being filled; with the copy that a part is joined in, 32 MiB are held at a time, whatever the size of the object. */
const PARTS_IN_FLIGHT = 3;

export interface StreamTarget {
  readonly bucket: string;
  readonly key: string;
  readonly contentType: string;
}

/**
 * Brings what `body` gives into S3, in parts as it comes. When the body fails, S3 fails or `signal` aborts, the body is destroyed and the
 * multipart upload aborted before this rejects; only when S3 doesn't answer to that either is something left.
 * @returns the bytes written
 * @throws the body's own error, the signal's reason, or DependencyUnavailableError
 */
export async function putStream(
  client: S3Client,
  { bucket, key, contentType }: StreamTarget,
  body: Readable,
  signal?: AbortSignal,
): Promise<number> {
  const requests = new AbortController();
  let bodyError: Error | undefined;
  body.once('error', (error: Error) => {
    bodyError ??= error;
  });
  const stop = (): void => {
    requests.abort();
    body.destroy();
  };
  signal?.addEventListener('abort', stop, { once: true });
  if (signal?.aborted === true) stop();
  let bytes = 0;
  try {
    const upload = new Upload({
      client: watched(client, requests.signal, {
        sent: (count) => {
          bytes += count;
        },
        failed: stop,
      }),
      params: {
        Bucket: bucket,
        Key: key,
        Body: body,
        ContentType: contentType,
        ChecksumAlgorithm: 'CRC32', // S3 refuses a part that arrives damaged
      },
      partSize: PART_BYTES,
      queueSize: PARTS_IN_FLIGHT,
    });
    await upload.done();
    return bytes;
  } catch (error) {
    signal?.throwIfAborted();
    throw bodyError ?? unavailable(error);
  } finally {
    signal?.removeEventListener('abort', stop);
    body.destroy();
  }
}

interface Watcher {
  readonly sent: (bytes: number) => void;
  readonly failed: () => void;
}

/**
 * lib-storage gives its requests no abort signal, answers an abort before it has cleaned up, and goes on reading after a part has failed:
 * here a request that fails ends the others and the body. Two requests are let finish: the one that begins the upload, for its answer is
 * the upload's name, and the one that aborts it.
 */
function watched(client: S3Client, signal: AbortSignal, { sent, failed }: Watcher): S3Client {
  const send = async (command: Parameters<S3Client['send']>[0]): Promise<unknown> => {
    const mustFinish =
      command instanceof CreateMultipartUploadCommand || command instanceof AbortMultipartUploadCommand;
    try {
      const answer = await client.send(command, mustFinish ? {} : { abortSignal: signal });
      if (command instanceof UploadPartCommand || command instanceof PutObjectCommand)
        sent((command.input.Body as Buffer).length);
      return answer;
    } catch (error) {
      failed();
      throw error;
    }
  };
  return Object.create(client, { send: { value: send } }) as S3Client;
}
