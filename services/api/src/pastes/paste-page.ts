import { createHash } from 'node:crypto';
import type { Request, Response } from 'express';
import { storedOptionNames, valuesOf } from '@pasteflow/domain';
import type { PasteRow } from '@pasteflow/postgres';
import {
  burnPage,
  encodingOf,
  encryptedPage,
  filePage,
  markupBytesOf,
  pasteFilesPage,
  PasteLines,
  pastePage,
  pendingPastePage,
  policyWithImage,
  remainingUntil,
  type ShownPaste,
  type Site,
  textOf,
  receiptPage,
} from '@pasteflow/web';
import type { ApiContext } from '../context.ts';
import { RequestError } from '../http/answers/request-error.ts';
import { beginCompressedStream, knownTagOf } from '../http/answers/compress.ts';
import { newSecret } from '../http/callers/secret.ts';
import type { Handler } from '../http/openapi/endpoint.ts';
import { assertNotGone, extensionOf, findNamedPaste, readerOf } from './find-named-paste.ts';
import { urlOf } from './paste-view.ts';
import { cachingOf, sendContent } from './read-content.ts';
import { markupOfFiles } from './content-files.ts';
import { withKind } from './image.ts';
import { pageHeaders, sendPage } from '../http/pages/page.ts';
import { sendRightAddress } from '../http/pages/right-address.ts';
import { readersOf } from './receipt.ts';
import { namingOf } from './paste-versions.ts';

/** GET /:short_code in a browser: the text with its facts, or the state of its upload. */
export function pasteInBrowser(api: ApiContext): Handler {
  return async (req, res) => {
    if (sendRightAddress(api.pages, { req, res }, { name: req.params.short_code, withFragment })) return;
    const paste = await findNamedPaste(api, req);
    if (paste?.burned_at && readerOf(paste, req) === 'owner') {
      await sendReceipt(api, req, res, paste);
      return;
    }
    assertShown(paste);
    const shown = {
      ...shownPaste(paste, req, { publicUrl: api.publicUrl(), extension: languageAskedFor(req) }),
      ...(await namingOf(api.db, req, paste)),
      isBinaryText: req.query['view'] === 'text',
    };
    if (paste.status === 'IN_PROGRESS') sendPage(res, pendingPastePage(api.pages.site(req), shown));
    else if (paste.encrypted)
      sendPage(res, encryptedPage(api.pages.site(req), shown), {
        'Content-Security-Policy': policyWithImages(),
      });
    else if (paste.burn) sendPage(res, burnPage(api.pages.site(req), shown, newSecret()));
    else await sendText(api, req, res, paste, shown);
  };
}

/** For the owner: 410 as for everybody else, with who has fetched the content. */
async function sendReceipt(
  { db, pages }: ApiContext,
  req: Request,
  res: Response,
  { short_code, title, burned_at, read_by }: PasteRow,
): Promise<void> {
  const [reader = null] = await readersOf(db, [{ read_by }]);
  res.status(410);
  sendPage(
    res,
    receiptPage(pages.site(req), {
      short_code,
      title,
      read_at: (burned_at ?? new Date()).toISOString(),
      reader,
    }),
  );
}

/** The page has a form that names the language; so does the extension of the short URL. */
function languageAskedFor(req: Request): string | null {
  const { language } = req.query;
  return typeof language === 'string' ? language.slice(0, MAX_LANGUAGE_CHARACTERS) : extensionOf(req);
}

const MAX_LANGUAGE_CHARACTERS = 20;

/** @throws RequestError for a paste without a page of its own */
export function assertShown(paste: PasteRow | null): asserts paste is PasteRow {
  if (paste?.status === 'FAILED') throw uploadFailed();
  assertNotGone(paste);
}

/**
 * Without a page, this is the 404 of an unknown paste. The metadata of the paste tells the same as this text.
 */
function uploadFailed(): RequestError {
  return new RequestError(
    'paste_not_found',
    'The upload of this paste failed, so that there is no text to show.',
  );
}

/** @param extension of the short URL: it names the language, whatever the paste says */
export function shownPaste(
  paste: PasteRow,
  req: Request,
  { publicUrl, extension }: { readonly publicUrl: string; readonly extension: string | null },
): ShownPaste {
  const options = valuesOf(storedOptionNames, paste);
  return {
    ...options,
    syntax: extension ?? options.syntax,
    short_code: paste.short_code,
    url: urlOf(paste, publicUrl),
    status: paste.status,
    isHeld: paste.held_at !== null,
    size_bytes: paste.size_bytes,
    created_at: paste.created_at.toISOString(),
    expires_at: paste.expires_at?.toISOString() ?? null,
    remaining: paste.expires_at && remainingUntil(paste.expires_at, Date.now()),
    deletion: deletionBy(paste, req),
  };
}

/** How the caller may delete a paste, and make a newer version of it. */
export function deletionBy(paste: PasteRow, req: Request): ShownPaste['deletion'] {
  if (paste.user_id === null) return 'token';
  return readerOf(paste, req) === 'owner' ? 'owner' : null;
}

async function sendText(
  api: ApiContext,
  req: Request,
  res: Response,
  paste: PasteRow,
  shown: ShownPaste,
): Promise<void> {
  const site = api.pages.site(req);
  const etag = etagOf(api.pages.assets.version, site, paste.content_hash, shown);
  res.type('html').set({ 'Cache-Control': cachingOf(paste, res) });
  const known = knownTagOf(req, etag);
  if (known !== null) {
    res.status(304).vary('Accept-Encoding').set('ETag', known).end();
    return;
  }
  if (shown.files !== null) res.set('Content-Security-Policy', policyWithImages());
  const compress = beginCompressedStream(res, etag);
  if (req.method === 'HEAD') {
    res.end();
    return;
  }
  await sendContent(api, paste, {
    req,
    res,
    requested: { paste, range: undefined, accepts: null },
    head: () => res,
    render: (bytes) => {
      const page = pageOf(site, shown, bytes);
      return compress === null ? page : compress(page);
    },
    weight: 1 + markupBytesOf(paste.size_bytes, shown.files?.length),
  });
}

/** Of a page that has images inside of it. */
export function policyWithImages(): string {
  return policyWithImage(pageHeaders['Content-Security-Policy'] ?? '');
}

/** The page of a text as its bytes arrive, or that of a content that is no text. */
async function* pageOf(
  site: Site,
  shown: ShownPaste,
  body: Iterable<Buffer> | AsyncIterable<Buffer>,
): AsyncGenerator<Buffer> {
  const { files, isBinaryText = false } = shown;
  if (files !== null) {
    yield* markupOfFiles(pasteFilesPage(site, shown, files), files, body, { isBinaryText });
    return;
  }
  const { kind, bytes, discard } = await withKind(body);
  if (kind === 'text' || (kind === 'binary' && isBinaryText)) {
    yield* markupOf(pastePage, site, shown, bytes);
    return;
  }
  await discard();
  yield Buffer.from(filePage(site, shown, kind));
}

/** The page, as the bytes of the paste arrive. */
export async function* markupOf(
  pageOf: typeof pastePage,
  site: Site,
  shown: ShownPaste,
  body: Iterable<Buffer> | AsyncIterable<Buffer>,
): AsyncGenerator<Buffer> {
  let lines = new PasteLines();
  let page: ReturnType<typeof pastePage> | undefined;
  for await (const bytes of body) {
    if (page === undefined) {
      page = pageOf(site, shown, textOf(bytes.subarray(0, 400)));
      lines = new PasteLines(encodingOf(bytes), page.language);
      yield Buffer.from(page.head);
    }
    yield Buffer.from(lines.push(bytes));
  }
  yield Buffer.from(lines.end() + (page?.tail(lines.warnings) ?? ''));
}

/**
 * Other than the ETag of the bytes, because a cache may hold both. The page names the user who is signed in.
 */
function etagOf(version: string, { viewer, words }: Site, contentHash: string, shown: ShownPaste): string {
  return `"${createHash('sha256')
    .update(JSON.stringify([version, words.locale, viewer, contentHash, shown]))
    .digest('hex')}"`;
}

/** A short code or a slug, an extension, `#`, and a key or lines. */
const withFragment = /^((?:[0-9A-Za-z]{10}|~[a-z0-9-]+)(?:\.[\w+-]{1,20})?)#([\w&=+.-]{1,200})$/;
