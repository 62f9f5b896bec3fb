import {
  diffPage,
  diffRefusedPage,
  encodingOf,
  pendingPastePage,
  type ShownChanges,
  type ShownHunk,
  type ShownPaste,
  textOf,
} from '@pasteflow/web';
import type { PasteFile } from '@pasteflow/domain';
import type { PasteRow } from '@pasteflow/postgres';
import type { ApiContext } from '../context.ts';
import { statusOf } from '../http/answers/problem-codes.ts';
import { markChangedWords } from './changed-words.ts';
import { type Both, bytesOf, diffFiles, filesOfBoth, diffTexts, type TextDiff } from './diff-files.ts';
import type { Hunk } from './hunks.ts';
import { RequestError } from '../http/answers/request-error.ts';
import { contextOf } from '../http/request/request-context.ts';
import { beginCompressed, compressed, knownTagOf } from '../http/answers/compress.ts';
import type { Handler, Routes } from '../http/openapi/endpoint.ts';
import {
  assertComparable,
  cachingOfBoth,
  etagOfDiff,
  findOlder,
  sendDiff,
  tooComplex,
  withContents,
  diffAtShortUrl,
} from './read-diff.ts';
import { findNamedPaste } from '../pastes/find-named-paste.ts';
import { assertStays } from '../pastes/read-content.ts';
import { sendPage } from '../http/pages/page.ts';
import { assertShown, shownPaste } from '../pastes/paste-page.ts';

/** GET /:short_code/diff in a browser: what has changed since the parent or another paste, line by line. */
function diffInBrowser(api: ApiContext): Handler {
  return async (req, res) => {
    const paste = await findNamedPaste(api, req);
    assertShown(paste);
    assertStays(api, paste);
    const older = await findOlder(api, req, paste);
    assertStays(api, older);
    const site = api.pages.site(req);
    const shownOf = (row: PasteRow): ShownPaste =>
      shownPaste(row, req, { publicUrl: api.publicUrl(), extension: null });
    const pending = [paste, older].find(({ status }) => status === 'IN_PROGRESS');
    if (pending !== undefined) {
      sendPage(res, pendingPastePage(site, shownOf(pending)));
      return;
    }
    const diffed = { paste, older };
    const shown = { paste: shownOf(paste), older: shownOf(older) };
    try {
      assertComparable(diffed);
      const files = filesOfBoth(older, paste);
      const etag = etagOfDiff(diffed, [api.pages.assets.version, site.words.locale, site.viewer, shown]);
      const caching = { 'Cache-Control': cachingOfBoth(diffed, res) };
      const known = knownTagOf(req, etag);
      if (known !== null) {
        res
          .status(304)
          .vary('Accept-Encoding')
          .set({ ...caching, ETag: known })
          .end();
        return;
      }
      await withContents(api, { req, res, ...diffed }, async (texts) => {
        const found = changesOf(texts, files);
        const markup = Buffer.from(
          diffPage(site, shown, {
            lineEndsDiffer: found.some(({ lineEndsDiffer }) => lineEndsDiffer),
            changes: markChangedWords(found.map((each) => ({ ...each, hunks: each.hunks.map(shownHunk) }))),
          }),
        );
        const isCompressed = beginCompressed(res.type('html').set(caching), etag);
        await sendDiff(api, req, res, isCompressed ? await compressed(markup) : markup);
      });
    } catch (error) {
      if (!(error instanceof RequestError) || error.code !== 'diff_unavailable') throw error;
      contextOf(req).errorCode = error.code;
      sendPage(
        res.status(statusOf(error.code)),
        diffRefusedPage(site, shown, { code: error.code, detail: error.message }),
      );
    }
  };
}

type FoundChanges = Omit<ShownChanges, 'hunks'> & TextDiff;

/** @param files null: the contents are compared as a whole @throws RequestError diff_unavailable */
function changesOf(
  { from, to }: Both<Buffer>,
  files: Both<readonly PasteFile[]> | null,
): readonly FoundChanges[] {
  if (files === null) {
    const diff = diffTexts({ from: asUtf8(from), to: asUtf8(to) }, 'ignored');
    if (diff === null) throw tooComplex();
    return [{ ...diff, file: null, firstText: firstTextOf(to) }];
  }
  const diffs = diffFiles({ from, to }, files, 'ignored', asUtf8);
  if (diffs === null) throw tooComplex();
  return diffs.map((each) => {
    const { name, syntax } = each.to ?? each.from;
    const file = { kind: each.kind, name, syntax, oldName: each.from?.name ?? name };
    const bytes = each.to === null ? bytesOf(from, each.from) : bytesOf(to, each.to);
    return { ...each, file, firstText: firstTextOf(bytes) };
  });
}

const firstTextOf = (bytes: Buffer): string => textOf(bytes.subarray(0, 400));

/** A text in UTF-16 has other bytes for the same letters than the one that the form has made of it. */
function asUtf8(content: Buffer): Buffer {
  return encodingOf(content) === 'utf-8' ? content : Buffer.from(textOf(content));
}

/** The lines are bytes, which are a text only now. */
function shownHunk({ oldNumber, newNumber, runs }: Hunk): ShownHunk {
  return {
    oldNumber,
    newNumber,
    runs: runs.map(({ lines, ...run }) => ({
      ...run,
      marks: [],
      lines: lines.length,
      text: Buffer.from(lines.join(''), 'latin1').toString(),
    })),
  };
}

export const diffRoutes = (api: ApiContext): Routes => ({
  '/:short_code/diff': { GET: diffAtShortUrl(api, diffInBrowser(api)) },
});
