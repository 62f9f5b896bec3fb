import { hash } from 'node:crypto';
import {
  GetObjectCommand,
  PutObjectCommand,
  S3ServiceException,
  type PutObjectCommandInput,
  type S3Client,
} from '@aws-sdk/client-s3';
import { isNotFound, unavailable } from './errors.ts';

export interface SmallObject {
  /** null: there is no object with this key. */
  readonly text: string | null;
  /** The time of the response by the clock of S3; null when the response has no Date. */
  readonly serverTime: Date | null;
}

/** Reads an object of a few kilobytes as text. */
export async function readText(client: S3Client, bucket: string, key: string): Promise<SmallObject> {
  const command = new GetObjectCommand({ Bucket: bucket, Key: key });
  let serverTime: Date | null = null;
  // The SDK's output has no Date. With a low priority this runs before the deserializer, which throws for a
  // 404.
  command.middlewareStack.add(
    (next) => async (input) => {
      const result = await next(input);
      serverTime = dateOf(result.response);
      return result;
    },
    { step: 'deserialize', priority: 'low', name: 'readServerTime' },
  );
  try {
    const { Body } = await client.send(command);
    return { text: (await Body?.transformToString()) ?? '', serverTime };
  } catch (error) {
    if (isNotFound(error)) return { text: null, serverTime };
    throw unavailable(error);
  }
}

function dateOf(response: unknown): Date | null {
  const { date } = (response as { headers?: Record<string, string> }).headers ?? {};
  const time = new Date(date ?? NaN);
  return Number.isNaN(time.getTime()) ? null : time;
}

/**
 * Stores a text. With `onlyIfAbsent` S3 refuses to replace an object. A store that ignores the condition
 * replaces it, so read the object afterwards.
 */
export async function writeText(
  client: S3Client,
  input: { readonly bucket: string; readonly key: string; readonly text: string },
  { onlyIfAbsent }: { readonly onlyIfAbsent: boolean },
): Promise<void> {
  const { bucket, key, text } = input;
  const put: PutObjectCommandInput = {
    Bucket: bucket,
    Key: key,
    Body: text,
    ContentType: 'application/json',
    ContentMD5: hash('md5', text, 'base64'), // a bucket with object lock refuses a put without it
  };
  try {
    await client.send(new PutObjectCommand({ ...put, ...(onlyIfAbsent && { IfNoneMatch: '*' }) }));
  } catch (error) {
    if (!onlyIfAbsent || !isConditionRefused(error)) throw unavailable(error);
    if (isConditionUnknown(error)) await writeText(client, input, { onlyIfAbsent: false });
  }
}

/**
 * 412: the object exists. 409: another conditional write is in progress. 501: the store doesn't know the
 * condition.
 */
function isConditionRefused(error: unknown): boolean {
  return error instanceof S3ServiceException && [409, 412, 501].includes(error.$metadata.httpStatusCode ?? 0);
}

function isConditionUnknown(error: unknown): boolean {
  return error instanceof S3ServiceException && error.$metadata.httpStatusCode === 501;
}
