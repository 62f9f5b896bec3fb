import type { ApiContext } from '../context.ts';
import type { Routes } from '../http/openapi/endpoint.ts';
import { changeFromForm, changePaste, showChangeForm } from './change-paste.ts';
import { createPaste } from './create-paste.ts';
import { deleteFromForm, deletePaste } from './delete-paste.ts';
import { deleteMyPastes, myPastes } from './my-pastes.ts';
import { readImage } from './image.ts';
import { listPastes } from './list-pastes.ts';
import { editPaste, newFromPaste } from './new-from-paste.ts';
import { pasteInBrowser } from './paste-page.ts';
import { readReceipt } from './receipt.ts';
import { readArchive, readFile } from './read-files.ts';
import { readContent } from './read-content.ts';
import { pasteEvents, readPaste, readTimeline, timelineAtShortUrl } from './read-paste.ts';
import { revealInBrowser } from './reveal-page.ts';
import { revealPaste } from './reveal-paste.ts';

export const pasteRoutes = (api: ApiContext): Routes => ({
  '/v1/pastes': { GET: listPastes(api), POST: createPaste(api) },
  '/v1/pastes/:short_code': { GET: readPaste(api), PATCH: changePaste(api), DELETE: deletePaste(api) },
  '/v1/pastes/:short_code/content': { GET: readContent(api, 'readContent') },
  '/v1/pastes/:short_code/files/*name': { GET: readFile(api, 'readFile') },
  '/v1/pastes/:short_code/archive': { GET: readArchive(api, 'readArchive') },
  '/v1/pastes/:short_code/reveal': { POST: revealPaste(api, 'revealPaste') },
  '/v1/pastes/:short_code/receipt': { GET: readReceipt(api) },
  '/v1/pastes/:short_code/timeline': { GET: readTimeline(api) },
  '/v1/pastes/:short_code/events': { GET: pasteEvents(api) },
  '/my/pastes': { GET: myPastes(api) },
  '/my/pastes/delete': { POST: deleteMyPastes(api) },
  '/:short_code/timeline': { GET: timelineAtShortUrl(api) },
  '/:short_code/files/*name': { GET: { ...readFile(api, 'readFileByShortUrl'), showsProblems: true } },
  '/:short_code/archive': { GET: { ...readArchive(api, 'readArchiveByShortUrl'), showsProblems: true } },
  '/:short_code/image': { GET: readImage(api) },
  '/:short_code/new': { GET: newFromPaste(api) },
  '/:short_code/change': { GET: showChangeForm(api), POST: changeFromForm(api) },
  '/:short_code/edit': { GET: editPaste(api) },
  '/:short_code/delete': { POST: deleteFromForm(api) },
  '/:short_code': {
    GET: { ...readContent(api, 'readContentByShortUrl'), page: pasteInBrowser(api) },
    POST: { ...revealPaste(api, 'revealPasteByShortUrl'), page: revealInBrowser(api) },
  },
});
