import { PasteflowApiError } from './errors.ts';
import { PasteContent } from './paste-content.ts';
import type { BareApi, Transport, TryInit } from './transport.ts';
import { type WaitOptions, waitUntilSettled } from './waiting.ts';

/**
 * An upload whose attempts all fail ends after about 31 s; one whose worker crashed continues within 10 s.
 */
export const UPLOAD_TIMEOUT_MS = 120_000;

/**
 * Sizes and positions are those of the content. With a Range, fetch sends this header by itself, and in a
 * browser it can't be set.
 */
const UNCOMPRESSED = { 'Accept-Encoding': 'identity' };

/** What a request of bytes sends. */
interface Conditions {
  readonly Range?: string;
  readonly 'If-Match'?: string;
  readonly 'Accept-Encoding'?: string;
}

/**
 * Waits for an upload that is in progress. Resolves when the response starts, which is resumed when the
 * connection breaks off.
 * @param get requests the bytes; one that takes no conditions is sent all of them again
 */
export async function openContent(
  transport: Transport,
  shortCode: string,
  { signal, timeoutMs = UPLOAD_TIMEOUT_MS }: WaitOptions,
  get: (
    api: BareApi,
    header: Conditions,
    init: TryInit & { readonly parseAs: 'stream' },
  ) => Promise<{ readonly response: Response }>,
): Promise<PasteContent> {
  const open = async (header: Conditions, trySignal: AbortSignal | undefined): Promise<Response> => {
    const { response } = await transport.call(
      async (api, init) => await get(api, header, { ...init, parseAs: 'stream' }),
      { signal: trySignal, streamed: true, codeOfBare503: 'paste_in_progress' },
    );
    return response;
  };
  const first = await whenStored(
    shortCode,
    { signal, timeoutMs },
    async (pollSignal) => await open(UNCOMPRESSED, pollSignal),
  );
  const etag = first.headers.get('ETag') ?? '';
  const resume = async (fromByte: number): Promise<Response> =>
    await open({ Range: `bytes=${fromByte}-`, 'If-Match': etag }, signal);
  return new PasteContent(first, resume, transport.policy.maxTries - 1);
}

/** Requests something of the content, again and again while the upload is in progress. */
export async function whenStored(
  shortCode: string,
  { signal, timeoutMs }: { readonly signal: AbortSignal | undefined; readonly timeoutMs: number },
  open: (signal: AbortSignal) => Promise<Response>,
): Promise<Response> {
  return await waitUntilSettled(`paste ${shortCode}`, { signal, timeoutMs }, async (pollSignal) => {
    try {
      return { settled: await open(pollSignal) };
    } catch (error) {
      if (!(error instanceof PasteflowApiError) || error.code !== 'paste_in_progress') throw error;
      return { pending: 'IN_PROGRESS', notBeforeMs: (error.retryAfter ?? 0) * 1000 };
    }
  });
}
