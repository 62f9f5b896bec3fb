import type { Request, Response } from 'express';
import { INLINE_CONTENT_BYTES, isShortCode, type ChosenOptions } from '@pasteflow/domain';
import type { CreatedPaste } from '@pasteflow/postgres';
import { contentHashOf, houseErrors, inFingerprint, withExpiry } from '@pasteflow/service-kit';
import { createdPage, newPastePage, slugMessage, type Site } from '@pasteflow/web';
import type { Form } from '../http/body/multipart.ts';
import { limitKeyOf } from '../http/callers/caller.ts';
import type { ApiContext } from '../context.ts';
import { FORM_USER_HEADER, requireFormUser } from '../http/request/form-user.ts';
import { contextOf, messageContextOf } from '../http/request/request-context.ts';
import { jsonAnswer, sendAnswer, textAnswer, type Answer } from '../http/answers/answer.ts';
import { type FieldError, validationFailed } from '../http/answers/request-error.ts';
import { callerOf } from '../http/callers/caller-of.ts';
import { hashOfSecret, newSecret } from '../http/callers/secret.ts';
import type { Endpoint } from '../http/openapi/endpoint.ts';
import { pageAnswer } from '../http/pages/page.ts';
import { createOperation, shellOperation } from './create-operations.ts';
import { viewOfNew, type CreatedPasteView, type PasteView } from './paste-view.ts';
import { withKeptFiles } from './kept-files.ts';
import { newerVersionOf } from './supersede.ts';
import { receivePaste, type ReceivedPaste } from './receive-paste.ts';

/** A form of a request for a new paste: how it is received, and how it is answered. */
export interface PasteForm {
  /** For metrics. */
  readonly name: 'json' | 'shell' | 'page' | 'private-bin';
  readonly receive: (api: ApiContext, req: Request, res: Response) => Promise<ReceivedPaste>;
  /** What a broken rule of the house is called in this form. Default: as in JSON. */
  readonly toOwnError?: (error: FieldError) => FieldError;
  /** @param deleteToken null for a paste with an owner */
  readonly answerTo: (paste: PasteView, deleteToken: string | null, site: () => Site) => Answer;
}

const json: PasteForm = {
  name: 'json',
  receive: (api, req, res) => receivePaste(api, req, res, { json: true }),
  answerTo: (paste, deleteToken) => {
    const created: CreatedPasteView = {
      ...paste,
      ...(deleteToken !== null && { delete_token: deleteToken }),
    };
    return jsonAnswer(201, created, { Location: paste.url });
  },
};

const shell: PasteForm = {
  name: 'shell',
  receive: (api, req, res) => receivePaste(api, req, res, { json: false }),
  answerTo: ({ url }, deleteToken) =>
    textAnswer(201, `${url}\n`, {
      Location: url,
      ...(deleteToken !== null && { 'Delete-Token': deleteToken }),
    }),
};

const page: PasteForm = {
  name: 'page',
  receive: (api, req, res) => {
    keepForm(api, req, null);
    requireFormUser(req, req.get(FORM_USER_HEADER));
    return receivePaste(api, req, res, {
      json: false,
      onForm: (sent) => keepForm(api, req, sent),
      amend: (sent) => withKeptFiles(api, req, res, sent),
    });
  },
  answerTo: (paste, deleteToken, site) =>
    pageAnswer(201, createdPage(site(), { ...paste, deleteToken }), { Location: paste.url }),
};

/** POST /v1/pastes: 201 with the paste and, only in this answer, the delete_token of an anonymous paste. */
export function createPaste(api: ApiContext): Endpoint {
  return {
    operation: createOperation(api),
    handle: (req, res) => create(api, req, res, json),
  };
}

/**
 * POST / for the shell: 201 with the URL and a newline; the delete token of an anonymous paste is in a
 * header. A browser gets a page with both.
 */
export function createPasteFromShell(api: ApiContext): Endpoint {
  return {
    operation: shellOperation(api),
    handle: (req, res) => create(api, req, res, shell),
    page: (req, res) => create(api, req, res, page),
  };
}

/**
 * Receive, claim the Idempotency-Key, ask the rules of the house, insert, dispatch, answer. The commit is the promise behind the answer;
 * the message follows it. A paste that is not created costs no bytes, and its request may be repeated at once.
 */
export async function create(api: ApiContext, req: Request, res: Response, form: PasteForm): Promise<void> {
  const {
    content,
    formKey = null,
    deleteToken: tokenOfOlder,
    inherited,
    ...sent
  } = await form.receive(api, req, res);
  const [context, caller, sizeBytes] = [contextOf(req), callerOf(req), content.length];
  context.sizeBytes = sizeBytes;
  // The answer tells whether the creator can read the parent, so that a parent may be a guess at a short
  // code.
  if ((sent.supersedes ?? sent.parent) !== undefined)
    api.limits.refuseUsedUp(res, 'misses', limitKeyOf(caller));

  const contentHash = contentHashOf(content);
  const userId = caller.kind === 'user' ? caller.userId : null;
  const deleteToken = userId === null ? newSecret() : null;
  const deleteTokenHash = deleteToken === null ? null : hashOfSecret(deleteToken);
  const fingerprint = JSON.stringify([
    inFingerprint(sent),
    contentHash,
    ...(inherited === undefined ? [] : [inherited]),
  ]);
  const claim = await api.idempotency.claim(req, res, fingerprint, formKey);
  if (claim === null) return;

  let options: ChosenOptions = withExpiry(api.house, sent, userId === null);
  const answerOf = (created: CreatedPaste): Answer => {
    const view = viewOfNew({ ...options, ...created, contentHash, sizeBytes }, api.publicUrl());
    return form.answerTo(view, deleteToken, () => api.pages.site(req));
  };
  let giveBackBytes = (): void => {};
  let inserted: { readonly created: CreatedPaste; readonly answer: Answer };
  try {
    if (typeof sent.supersedes === 'string')
      options = await newerVersionOf(api, req, sent.supersedes, {
        ...options,
        inherited,
        deleteToken: tokenOfOlder,
      });
    const errors = houseErrors(api.house, { ...options, sizeBytes }, userId === null);
    if (errors.length > 0) throw validationFailed(errors.map(form.toOwnError ?? ((error) => error)));
    giveBackBytes = await api.limits.spendBytes(res, caller, sizeBytes);
    const paste = { ...options, content, contentHash, userId, deleteTokenHash };
    inserted = await api.inserts.insert(paste, claim.key, answerOf);
  } catch (error) {
    giveBackBytes();
    await claim.release();
    throw error;
  }

  const { shortCode, executionId } = inserted.created;
  context.shortCode = shortCode;
  api.events.pasteCreated(form.name, sizeBytes);
  api.firstWords.learn(shortCode, { ...options, content, contentHash, userId });
  api.dispatcher.dispatch({
    executionId,
    shortCode,
    content: sizeBytes <= INLINE_CONTENT_BYTES ? content : null,
    context: messageContextOf(context),
  });
  sendAnswer(res, inserted.answer);
}

/** A page with a longer text would take too much memory. The browser has the text, too. */
const MAX_SHOWN_BYTES = 256 * 1024;

/**
 * Keeps the form of a page for fields, files or a parent that are refused, for a text with a file, for a user who has
 * changed, and for a newer version. Without JavaScript, the refusal would otherwise cost everything that was
 * entered.
 * @param form null: a script has sent one content, and keeps what was entered, as that of several files does
 */
function keepForm({ pages, maxPasteBytes }: ApiContext, req: Request, form: Form | null): void {
  const { content, files, text, fields: sent } = form ?? NOTHING_SENT;
  if (text !== null && text.length > MAX_SHOWN_BYTES) return;
  const isTextWithFile = Boolean(text?.length && (content?.length || files.length > 1));
  const { supersedes: inQuery } = req.query; // a script sends the options there
  contextOf(req).refusedForm = (problem) => {
    const { code, errors = [], short_code: newer } = problem;
    const site = pages.site(req);
    const hasOtherUser = code === 'user_changed';
    const conflict = code === 'superseded' && newer !== undefined ? newer : null;
    const isScripted = form === null || req.get(FORM_USER_HEADER) !== undefined;
    if (isScripted && !hasOtherUser && conflict === null) return null;
    const supersedes = sent.get('supersedes') ?? (typeof inQuery === 'string' ? inQuery : '');
    // Only those who are signed in have the field of the slug.
    const slugError = site.viewer === null ? undefined : errors.find(({ path }) => path === 'slug')?.message;
    const isParentMissing = code === 'parent_not_found';
    const hasBoth = isTextWithFile && errors.some(({ path }) => path === 'content');
    const isInvalid = code === 'validation_failed' && form !== null;
    const isShownOtherwise = slugError !== undefined || isParentMissing || hasBoth || hasOtherUser;
    if (supersedes === '' ? !(isShownOtherwise || isInvalid) : !isShortCode(supersedes)) return null; // the page links it
    const fields = new Map(sent);
    if (conflict !== null) fields.set('supersedes', conflict);
    else if (isParentMissing)
      for (const name of ['supersedes', 'delete_token', 'files_of']) fields.delete(name);
    if (req.get('Delete-Token') !== undefined) fields.set('delete_token', '');
    const refused = {
      text: text?.toString().replaceAll('\r\n', '\n') ?? '',
      fields,
      slugError: slugError === undefined ? null : slugMessage(site.words, code, slugError),
      isParentMissing,
      hasBoth,
      hasOtherUser,
      problem: isShownOtherwise || conflict !== null ? null : problem,
      conflict: conflict === null ? null : { older: supersedes, newer: conflict },
    };
    return newPastePage(site, { maxPasteBytes, refused });
  };
}

const NOTHING_SENT: Form = {
  content: null,
  files: [],
  text: null,
  fields: new Map(),
};
