import type { CreatedPaste, Paste, PasteChanges, PasteFilter, Receipt, Timeline } from './api-types.ts';
import { PasteFailedError, PasteflowApiError } from './errors.ts';
import { openContent, UPLOAD_TIMEOUT_MS, whenStored } from './open-content.ts';
import { followEvents, type EventsOptions, type PasteEvent } from './events.ts';
import { Listing } from './listing.ts';
import {
  type NewFile,
  newPasteSource,
  type CreatePasteOptions,
  type OwnPasteOptions,
  type RevealOptions,
} from './new-files.ts';
import { type Bytes, type Content, PasteContent } from './paste-content.ts';
import type { Transport } from './transport.ts';
import {
  type CallOptions,
  newIdempotencyKey,
  type PollResult,
  preferWait,
  type WaitOptions,
  waitUntilSettled,
} from './waiting.ts';

/** Each paste is named by its short code, or by `~` and its slug. */
export class Pastes {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * @param content one content, or up to 100 files
   * @throws PasteFailedError with `wait`, when the upload has failed; PasteflowApiError paste_gone when the
   *   paste is deleted during the wait
   */
  async create(
    content: Content | readonly NewFile[],
    {
      wait = false,
      idempotencyKey = newIdempotencyKey(),
      signal,
      timeoutMs,
      deleteToken,
      ...fields
    }: CreatePasteOptions = {},
  ): Promise<CreatedPaste> {
    const { query, headers, ...source } = newPasteSource(content, fields);
    const created = await this.#transport
      .call(
        async (api, init) =>
          api.POST('/v1/pastes', {
            params: { query, header: withToken(deleteToken) },
            headers: { ...headers, 'Idempotency-Key': idempotencyKey },
            bodySerializer: (body) => body,
            ...(await source.next()),
            ...init,
          }),
        { signal, isRepeatable: source.isRepeatable },
      )
      .catch((error: unknown) => {
        source.release(error);
        throw error;
      });
    const { data: paste } = created;
    return wait ? { ...paste, ...(await this.wait(paste.short_code, { signal, timeoutMs })) } : paste;
  }

  /** The paste in any state, without its content. */
  async get(shortCode: string, { signal }: CallOptions = {}): Promise<Paste> {
    return await this.#get(shortCode, {}, signal);
  }

  /** Resolves when the upload has succeeded. @throws PasteFailedError when it has failed */
  async wait(shortCode: string, { signal, timeoutMs = UPLOAD_TIMEOUT_MS }: WaitOptions = {}): Promise<Paste> {
    const what = `paste ${shortCode}`;
    return await waitUntilSettled(
      what,
      { signal, timeoutMs },
      async (pollSignal): Promise<PollResult<Paste>> => {
        const paste = await this.#get(shortCode, preferWait(this.#transport.policy), pollSignal);
        switch (paste.status) {
          case 'PROCESSED':
            return { settled: paste };
          case 'FAILED':
            throw new PasteFailedError(paste);
          case 'IN_PROGRESS':
            return { pending: paste.status };
          default:
            return paste.status satisfies never;
        }
      },
    );
  }

  /** Waits for an upload that is in progress. Resolves when the response starts. */
  async content(shortCode: string, options: WaitOptions = {}): Promise<PasteContent> {
    return await openContent(this.#transport, shortCode, options, (api, header, init) =>
      api.GET('/v1/pastes/{short_code}/content', { params: { ...pathOf(shortCode), header }, ...init }),
    );
  }

  /** As `content`, of a file of the paste. @throws PasteflowApiError file_not_found */
  async file(shortCode: string, name: string, options: WaitOptions = {}): Promise<PasteContent> {
    const path = { short_code: shortCode, name };
    return await openContent(this.#transport, shortCode, options, (api, header, init) =>
      api.GET('/v1/pastes/{short_code}/files/{name}', { params: { path, header }, ...init }),
    );
  }

  /** As `content`: all files of the paste as a zip. @throws PasteflowApiError not_several_files */
  async archive(shortCode: string, options: WaitOptions = {}): Promise<PasteContent> {
    return await openContent(this.#transport, shortCode, options, (api, _header, init) =>
      api.GET('/v1/pastes/{short_code}/archive', { params: pathOf(shortCode), ...init }),
    );
  }

  /**
   * What has changed since the paste that this one was made from: a patch in the unified format of diff,
   * empty when nothing has changed. Its bytes may be no UTF-8. Waits for uploads that are in progress.
   */
  async diff(shortCode: string, { signal, timeoutMs = UPLOAD_TIMEOUT_MS }: WaitOptions = {}): Promise<Bytes> {
    const whole = await whenStored(shortCode, { signal, timeoutMs }, async (pollSignal) => {
      const { response } = await this.#transport.call(
        (api, init) =>
          api.GET('/{short_code}/diff', {
            params: pathOf(shortCode),
            parseAs: 'stream', // bytes, which `call` has received by then
            ...init,
          }),
        { signal: pollSignal, codeOfBare503: 'paste_in_progress' },
      );
      return response;
    });
    return new Uint8Array(await whole.arrayBuffer());
  }

  /**
   * Reads a paste that is deleted when it is read. Waits for an upload that is in progress. When an answer is
   * lost or breaks off, the request is repeated with the same key, which the server allows for five minutes.
   */
  async reveal(
    shortCode: string,
    {
      idempotencyKey = newIdempotencyKey(),
      signal,
      timeoutMs = UPLOAD_TIMEOUT_MS,
      retry,
      onTry,
    }: RevealOptions = {},
  ): Promise<PasteContent> {
    const params = { ...pathOf(shortCode), header: { 'Idempotency-Key': idempotencyKey } };
    const open = async (trySignal: AbortSignal | undefined): Promise<Response> => {
      const { response } = await this.#transport.call(
        async (api, init) => {
          onTry?.();
          return await api.POST('/v1/pastes/{short_code}/reveal', {
            params,
            parseAs: 'stream',
            ...init,
          });
        },
        { signal: trySignal, streamed: true, codeOfBare503: 'paste_in_progress', retry },
      );
      return response;
    };
    const first = await whenStored(shortCode, { signal, timeoutMs }, open);
    return new PasteContent(first, async () => await open(signal), this.#transport.policy.maxTries - 1);
  }

  /** Changes the title, the language, the readers or the expiry; a field that is left out stays. */
  async change(
    shortCode: string,
    body: PasteChanges,
    { deleteToken, signal }: OwnPasteOptions = {},
  ): Promise<Paste> {
    const params = { ...pathOf(shortCode), header: withToken(deleteToken) };
    const { data } = await this.#transport.call(
      (api, init) => api.PATCH('/v1/pastes/{short_code}', { params, body, ...init }),
      { signal },
    );
    return data;
  }

  /** Deletes the paste at once; it can't be restored. */
  async delete(shortCode: string, { deleteToken, signal }: OwnPasteOptions = {}): Promise<void> {
    let tries = 0;
    try {
      await this.#transport.call(
        async (api, init) => {
          tries += 1;
          const params = { ...pathOf(shortCode), header: withToken(deleteToken) };
          return await api.DELETE('/v1/pastes/{short_code}', { params, ...init });
        },
        { signal },
      );
    } catch (error) {
      const isGone = error instanceof PasteflowApiError && error.code === 'paste_gone';
      if (!isGone || tries === 1) throw error; // otherwise an earlier try deleted it, and its response was lost
    }
  }

  /**
   * Whether an own paste that is deleted when it is read was fetched, and by whom. @throws PasteflowApiError
   * nothing_to_reveal for a paste that stays; paste_gone for one that has ended unread
   */
  async receipt(shortCode: string, { deleteToken, signal }: OwnPasteOptions = {}): Promise<Receipt> {
    const params = { ...pathOf(shortCode), header: withToken(deleteToken) };
    const { data } = await this.#transport.call(
      (api, init) => api.GET('/v1/pastes/{short_code}/receipt', { params, ...init }),
      { signal },
    );
    return data;
  }

  /** The caller's own pastes, newest first. */
  list({ signal, ...filter }: PasteFilter & CallOptions = {}): Listing<Paste> {
    return new Listing(async (place) => {
      const query = { ...filter, ...place };
      const { data } = await this.#transport.call(
        (api, init) => api.GET('/v1/pastes', { params: { query }, ...init }),
        { signal },
      );
      return { items: data.pastes, nextCursor: data.next_cursor };
    });
  }

  /** The transitions of the paste and of the executions of its upload, oldest first. */
  async timeline(shortCode: string, { signal }: CallOptions = {}): Promise<Timeline> {
    const { data } = await this.#transport.call(
      (api, init) =>
        api.GET('/v1/pastes/{short_code}/timeline', {
          params: pathOf(shortCode),
          ...init,
        }),
      { signal },
    );
    return data;
  }

  /** The paste's events as they happen, from the first to the end of its upload. */
  events(shortCode: string, options: EventsOptions = {}): AsyncIterableIterator<PasteEvent> {
    const open = async (after: string | undefined): Promise<Response> => {
      const params = { ...pathOf(shortCode), header: after === undefined ? {} : { 'Last-Event-ID': after } };
      const { response } = await this.#transport.call(
        (api, init) =>
          api.GET('/v1/pastes/{short_code}/events', {
            params,
            parseAs: 'stream',
            ...init,
          }),
        { signal: options.signal, streamed: true },
      );
      return response;
    };
    return followEvents(open, options, this.#transport.policy.maxTries);
  }

  async #get(
    shortCode: string,
    header: { Prefer?: string },
    signal: AbortSignal | undefined,
  ): Promise<Paste> {
    const params = { ...pathOf(shortCode), header };
    const { data } = await this.#transport.call(
      (api, init) => api.GET('/v1/pastes/{short_code}', { params, ...init }),
      { signal },
    );
    return data;
  }
}

function pathOf(shortCode: string): { path: { short_code: string } } {
  return { path: { short_code: shortCode } };
}

function withToken(deleteToken: string | undefined): { 'Delete-Token'?: string } {
  return deleteToken === undefined ? {} : { 'Delete-Token': deleteToken };
}
