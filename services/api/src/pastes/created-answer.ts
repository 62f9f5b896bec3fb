import { createdPage, type Site } from '@pasteflow/web';
import { jsonAnswer, textAnswer, type Answer } from '../http/response/answer.ts';
import { pageAnswer } from '../html/page.ts';
import type { CreatedPasteView, PasteView } from './paste-view.ts';

/** How a new paste is shown: as JSON, as its URL for the shell, or as a page for a browser. */
export type CreatedForm = 'json' | 'shell' | 'page';

/**
 * The 201 for a new paste.
 * @param deleteToken null for a paste with an owner
 */
export function createdAnswer(
  form: CreatedForm,
  paste: PasteView,
  deleteToken: string | null,
  site: () => Site,
): Answer {
  const Location = paste.url;
  switch (form) {
    case 'json': {
      const created: CreatedPasteView = {
        ...paste,
        ...(deleteToken !== null && { delete_token: deleteToken }),
      };
      return jsonAnswer(201, created, { Location });
    }
    case 'shell': {
      const token = deleteToken === null ? {} : { 'Delete-Token': deleteToken };
      return textAnswer(201, `${paste.url}\n`, { Location, ...token });
    }
    case 'page':
      return pageAnswer(
        201,
        createdPage(site(), { url: paste.url, deleteToken, encrypted: paste.encrypted }),
        { Location },
      );
    default:
      return form satisfies never;
  }
}
