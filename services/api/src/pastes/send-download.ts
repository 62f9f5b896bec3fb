import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { Request, Response } from 'express';
import { markupBytesOf } from '@pasteflow/web';
import type { ApiContext } from '../context.ts';
import { contextOf, idsOf } from '../http/request/request-context.ts';
import { sendStream, sendWhole, type SendOutcome } from '../http/answers/send-paced.ts';
import {
  openContent,
  readContent,
  requestedBytes,
  type ObjectRequest,
  type OpenContent,
} from '../storage/stored-content.ts';

export interface RequestedDownload {
  readonly req: Request;
  readonly res: Response;
  readonly requested: ObjectRequest;
  /** Writes the status and the headers of the answer. */
  readonly head: (sent: Pick<OpenContent, 'encoding' | 'length'>) => ServerResponse;
  /** Makes what is sent from the bytes of the object; default: the bytes. */
  readonly render?: (bytes: Iterable<Buffer> | AsyncIterable<Buffer>) => AsyncIterable<Buffer>;
  /** The bytes in memory for each byte of a content that is rendered as a whole; default: those of a page. */
  readonly weight?: number;
}

/**
 * Sends an object, or a range of it.
 * @returns false when S3 has no such object: nothing was sent
 * @throws RequestError overloaded or rate_limited, DependencyUnavailableError
 */
export async function sendDownload(
  api: ApiContext,
  { req, res, requested, head, render, weight }: RequestedDownload,
): Promise<boolean> {
  const held = bytesInMemory(requested);
  const download = api.downloads.begin(
    req,
    held,
    weight ?? (render === undefined ? 1 : 1 + markupBytesOf(held)),
  );
  try {
    let outcome: SendOutcome;
    if (download.kind === 'whole') {
      const content = await readContent(api.store, api.cache, requested, res);
      if (content === null) return false;
      const { bytes, encoding } = content;
      const sent = await rendered(bytes, render);
      outcome = await sendWhole(sent, head({ encoding, length: bytes.length }), api.sending);
    } else {
      const content = await openContent(api.store, requested, res);
      if (content === null) return false;
      const source = content.body.once('error', (error) => {
        // After the client has disconnected, the error is only that, passed on by the pipeline.
        if (res.destroyed) return;
        const { short_code } = requested.paste;
        api.logger.error('content cut off by S3', { ...idsOf(contextOf(req)), short_code, error });
      });
      outcome = await sendStream(streamed(source, render), head(content), api.sending);
    }
    if (outcome === 'too_slow') api.events.downloadTooSlow(req);
    return true;
  } finally {
    download.release();
  }
}

/** A range of a compressed object is cut out of the whole content. */
function bytesInMemory(requested: ObjectRequest): number {
  const { size_bytes: size, stored_encoding: encoding } = requested.paste;
  return encoding === null ? requestedBytes(requested) : size;
}

async function rendered(bytes: Buffer, render: RequestedDownload['render']): Promise<Buffer> {
  return render === undefined ? bytes : await buffer(Readable.from(render([bytes])));
}

function streamed(body: Readable, render: RequestedDownload['render']): Readable {
  if (render === undefined) return body;
  // Who renders may be waiting for S3 when the client disconnects.
  return Readable.from(render(body)).once('close', () => body.destroy());
}
