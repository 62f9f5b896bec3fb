import { jsonAnswer, textAnswer, type Answer } from '../http/response/answer.ts';
import type { CreatedPasteView, PasteView } from './paste-view.ts';

/**
 * The 201 for a new paste: the paste as JSON, or its URL for the shell.
 * @param deleteToken null for a paste with an owner
 */
export function createdAnswer(form: 'json' | 'shell', paste: PasteView, deleteToken: string | null): Answer {
  const Location = paste.url;
  if (form === 'shell') {
    return textAnswer(201, `${paste.url}\n`, {
      Location,
      ...(deleteToken !== null && { 'Delete-Token': deleteToken }),
    });
  }
  const created: CreatedPasteView = {
    ...paste,
    ...(deleteToken !== null && { delete_token: deleteToken }),
  };
  return jsonAnswer(201, created, { Location });
}
