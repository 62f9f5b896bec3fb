import { archiveNameOf, fileNameOf, type PasteFile } from '@pasteflow/domain';
import { zipBytesOf, zipFiles } from '@pasteflow/jobs';
import type { PasteRow } from '@pasteflow/postgres';
import { attachmentAs } from '@pasteflow/s3';
import {
  kindOf,
  type pastePage,
  pendingPastePage,
  revealedFilesPage,
  revealedImagePage,
  revealedPage,
  type ImageType,
  type ShownPaste,
  type Site,
} from '@pasteflow/web';
import type { Response } from 'express';
import { z } from 'zod';
import type { ApiContext } from '../context.ts';
import { readUrlForm } from '../http/body/url-form.ts';
import { validate } from '../http/answers/request-error.ts';
import type { Handler } from '../http/openapi/endpoint.ts';
import { extensionOf, findNamedPaste } from './find-named-paste.ts';
import { readerKeyOf } from './reveal-paste.ts';
import { asReaderFinds, assertBurns, hasBody, sendOnce } from './reveal-paste.ts';
import { sendPage } from '../http/pages/page.ts';
import { markupOfFiles } from './content-files.ts';
import { assertShown, markupOf, policyWithImages, shownPaste } from './paste-page.ts';

const form = z.strictObject({
  key: z.string().optional(),
  download: z.literal('yes').optional(),
  /** The number of a file to download. */
  file: z
    .string()
    .regex(/^[1-9]\d{0,2}$/)
    .optional(),
});

type Sent = z.output<typeof form>;
type Pieces = Iterable<Buffer> | AsyncIterable<Buffer>;

/**
 * POST /:short_code in a browser: the content of a paste that is deleted when it is read: a page with the
 * text or the image, or the file. The form has the key of the reader, so that a reload, the same button, and
 * the button of the page that downloads the file repeat the reveal.
 */
export function revealInBrowser(api: ApiContext): Handler {
  return async (req, res) => {
    const sent: Sent = hasBody(req) ? validate(form, await readUrlForm(req, res, api.bodies)) : {};
    const key = readerKeyOf(req, sent.key);
    const paste = asReaderFinds(await findNamedPaste(api, req), key);
    assertShown(paste);
    assertBurns(paste);
    const site = api.pages.site(req);
    const shown = shownPaste(paste, req, { publicUrl: api.publicUrl(), extension: extensionOf(req) });
    if (paste.status === 'IN_PROGRESS') {
      sendPage(res, pendingPastePage(site, shown));
      return;
    }
    await sendOnce(api, paste, {
      req,
      res,
      key,
      isRendered: true,
      answer: (content) => {
        if (paste.files !== null)
          return asFiles(res, site, shown, { paste, files: paste.files, content, sent, key: key.text });
        const kind = kindOf(content);
        if (kind === 'binary' || sent.download !== undefined)
          return asFile(res, fileNameOf(paste.title, paste.short_code), paste.size_bytes);
        if (kind !== 'text') return asImage(res, site, shown, { type: kind, content, key: key.text });
        const page: typeof pastePage = (of, text, first) => revealedPage(of, text, first, key.text);
        return {
          head: () => res.type('html'),
          render: (bytes) => markupOf(page, site, shown, bytes),
        };
      },
    });
  };
}

/** A page with all files, or as a download the one that the form names, or a zip of all. */
function asFiles(
  res: Response,
  site: Site,
  shown: ShownPaste,
  {
    paste,
    files,
    content,
    sent,
    key,
  }: {
    readonly paste: PasteRow;
    readonly files: readonly PasteFile[];
    readonly content: Buffer;
    readonly sent: Sent;
    readonly key: string;
  },
) {
  if (sent.download === undefined) {
    const page = revealedFilesPage(site, shown, files, key);
    return {
      head: () => res.type('html').set('Content-Security-Policy', policyWithImages()),
      render: (bytes: Pieces) => markupOfFiles(page, files, bytes, { isBinaryText: false }),
    };
  }
  const { title, short_code: code, created_at: mtime } = paste;
  const file = files[Number(sent.file) - 1];
  if (file === undefined) {
    const zipped = { files, mtime };
    return {
      ...asFile(res, archiveNameOf(title, code), zipBytesOf(zipped)),
      render: (bytes: Pieces) => zipFiles(bytes, zipped),
    };
  }
  return {
    ...asFile(res, fileNameOf(file.name.split('/').at(-1) ?? null, code), file.size),
    async *render() {
      yield content.subarray(file.offset, file.offset + file.size);
    },
  };
}

/** The browser saves the file, and stays on the page of the button. */
function asFile(res: Response, name: string, size: number) {
  return {
    head: () =>
      res.type('application/octet-stream').set({
        'Content-Disposition': attachmentAs(name),
        'Content-Length': String(size),
      }),
  };
}

/** The image is in the page, because no address has it any more. */
function asImage(
  res: Response,
  site: Site,
  shown: ShownPaste,
  { type, content, key }: { readonly type: ImageType; readonly content: Buffer; readonly key: string },
) {
  return {
    head: () => res.type('html').set('Content-Security-Policy', policyWithImages()),
    async *render() {
      const { head, tail } = revealedImagePage(site, shown, { type, key });
      yield Buffer.from(head);
      for (let start = 0; start < content.length; start += BASE64_BYTES)
        yield Buffer.from(content.toString('base64', start, start + BASE64_BYTES));
      yield Buffer.from(tail);
    },
  };
}

/** Whole groups of three bytes, so that no padding is inside of the text. */
const BASE64_BYTES = 49_152;
