import type { Request, Response } from 'express';
import type { PasteRow } from '@pasteflow/postgres';
import type { ApiContext } from '../context.ts';
import { RequestError } from '../http/answers/request-error.ts';
import { usage } from '../docs/usage.ts';
import type { ApiEndpoint } from '../http/openapi/endpoint.ts';
import { findErrors } from '../pastes/find-named-paste.ts';
import { findAfterUpload, sendContent } from '../pastes/read-content.ts';
import { readerKeyOf } from '../pastes/reveal-paste.ts';
import { requireWrite } from '../http/callers/caller-of.ts';
import { sendOnce } from '../pastes/reveal-paste.ts';
import { fieldsOf } from './answers.ts';
import { privateBinQuery } from './request.ts';

/** PrivateBin stores a paste before it answers, so that its clients never try a read again. */
const UPLOAD_WAIT_MS = 10_000;

/** GET / of PrivateBin's clients: a paste, or a JSON-LD context. */
export function privateBinGet(api: ApiContext): ApiEndpoint {
  return {
    operation: {
      ...usage(api).operation,
      access: 'anyone',
      errors: [
        ...findErrors,
        'paste_in_progress',
        'rate_limited',
        'overloaded',
        'validation_failed',
        'insufficient_scope',
      ],
    },
    handle: async (req, res) => {
      const query = privateBinQuery(req);
      switch (query.kind) {
        case 'json-ld':
          res.type('application/ld+json').json(jsonLdOf(query.name));
          return;
        case 'paste':
          // The functions that find a paste read its name from the parameters of the route.
          req.params['short_code'] = query.shortCode;
          return await read(api, req, res);
        case 'none':
          throw new RequestError('malformed_request', 'Name the paste in the query: `?SHORT_CODE`.');
        default:
          return query satisfies never;
      }
    },
  };
}

async function read(api: ApiContext, req: Request, res: Response): Promise<void> {
  const paste = await findAfterUpload({ ...api, contentWaitMs: UPLOAD_WAIT_MS }, req, res);
  if (paste === null) return; // the client is gone
  if (paste.status === 'IN_PROGRESS') throw uploadInProgress();
  if (!paste.encrypted) throw notEncrypted(`${api.publicUrl()}/${paste.short_code}`);
  res.status(200).set({ 'Content-Type': 'application/json; charset=utf-8', 'Cache-Control': 'no-store' });
  if (req.method === 'HEAD') {
    res.end();
    return;
  }
  const { base } = api.pages.site(req);
  const parts = {
    before: { ...fieldsOf(base, paste.short_code), '@context': `${base}/?jsonld=paste` },
    after: { meta: metaOf(paste), comments: [], comment_count: 0, comment_offset: 0 },
  };
  const answer = {
    head: () => res,
    render: (bytes: Iterable<Buffer> | AsyncIterable<Buffer>) => aroundDocument(bytes, parts),
  };
  // The header of these clients makes the request a deliberate read: no browser sends it by itself, nor for a
  // page of another site.
  if (paste.burn) {
    requireWrite(req);
    const key = readerKeyOf(req);
    await sendOnce(api, paste, { req, res, key, isRendered: true, answer: () => answer });
  } else {
    const requested = { paste, range: undefined, accepts: null };
    await sendContent(api, paste, { req, res, ...answer, requested });
  }
}

/** As PrivateBin: whole seconds, and at least one of a paste that is served. */
function metaOf({ expires_at: expiresAt }: PasteRow): { readonly time_to_live?: number } {
  if (expiresAt === null) return {};
  return { time_to_live: Math.max(1, Math.floor((expiresAt.getTime() - Date.now()) / 1000)) };
}

function uploadInProgress(): RequestError {
  return new RequestError(
    'paste_in_progress',
    'The upload of this paste is in progress. Try again in a moment.',
  );
}

function notEncrypted(url: string): RequestError {
  return new RequestError(
    'malformed_request',
    `This paste is not encrypted, so that a client of PrivateBin's can't show it. Read it at ${url}.`,
  );
}

/**
 * Writes fields around those of a stored document, whose bytes stay as they are: `{` and `}` are its first
 * and its last byte, because only that one form of a document is stored.
 */
async function* aroundDocument(
  document: Iterable<Buffer> | AsyncIterable<Buffer>,
  { before, after }: { readonly before: object; readonly after: object },
): AsyncGenerator<Buffer> {
  yield Buffer.from(`${JSON.stringify(before).slice(0, -1)},`);
  let isFirst = true;
  let held: Buffer | undefined;
  for await (const chunk of document) {
    if (chunk.length === 0) continue;
    if (held !== undefined) yield held;
    held = isFirst ? chunk.subarray(1) : chunk;
    isFirst = false;
  }
  if (held !== undefined) yield held.subarray(0, -1);
  yield Buffer.from(`,${JSON.stringify(after).slice(1)}`);
}

/**
 * The JSON-LD contexts that PrivateBin serves at `?jsonld=`, as far as clients read them: PBinCLI takes the
 * version of the format from `@context.v.@value` of `paste`, and version 1 from a server without it.
 */
const contexts: Readonly<Record<string, object>> = {
  paste: {
    '@context': {
      so: 'https://schema.org/',
      status: { '@type': 'so:Integer' },
      id: { '@type': 'so:name' },
      deletetoken: { '@type': 'so:Text' },
      url: { '@type': 'so:url' },
      v: { '@type': 'so:Integer', '@value': 2 },
      ct: { '@type': 'so:Text' },
      adata: { '@container': '@list' },
      meta: { '@type': '?jsonld=pastemeta' },
      comments: { '@container': '@list' },
      comment_count: { '@type': 'so:Integer' },
      comment_offset: { '@type': 'so:Integer' },
    },
  },
  pastemeta: {
    '@context': {
      so: 'https://schema.org/',
      expire: { '@type': 'so:Text' },
      time_to_live: { '@type': 'so:Integer' },
    },
  },
};

/** An empty object for a context that is not known, as PrivateBin answers. */
function jsonLdOf(name: string): object {
  return (Object.hasOwn(contexts, name) ? contexts[name] : undefined) ?? {};
}
