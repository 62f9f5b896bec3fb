import { promisify } from 'node:util';
import { gunzip, gunzipSync } from 'node:zlib';
import type { ContentEncoding } from '@pasteflow/domain';

/** Contents of up to this size are decompressed at once, within 0.7 ms, which costs less than handing them to a thread. */
const MAX_SYNC_BYTES = 256 * 1024;

const inThread = promisify(gunzip);

/** The object is no gzip of a content of the expected size. */
export class DamagedObjectError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'DamagedObjectError';
  }
}

/**
 * The content of a whole object.
 * @param size of the content: no more memory than this is taken, whatever the object says
 * @throws DamagedObjectError
 */
export async function decompress(
  object: Buffer,
  encoding: ContentEncoding | null,
  size: number,
): Promise<Buffer> {
  if (encoding === null) return assertSize(object, size);
  const options = { maxOutputLength: size };
  let content: Buffer;
  try {
    content = size <= MAX_SYNC_BYTES ? gunzipSync(object, options) : await inThread(object, options);
  } catch (cause) {
    throw new DamagedObjectError('The compressed object is damaged.', { cause });
  }
  return assertSize(content, size);
}

function assertSize(content: Buffer, size: number): Buffer {
  if (content.length === size) return content;
  throw new DamagedObjectError(`The object has ${content.length} bytes of content instead of ${size}.`);
}
