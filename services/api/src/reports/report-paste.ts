import type { Request, Response } from 'express';
import { MAX_REPORT_CHARACTERS, MAX_REPORT_CONTACT_CHARACTERS, takedownClasses } from '@pasteflow/domain';
import { networkOf } from '@pasteflow/http-kit';
import { reportPaste as insertReport } from '@pasteflow/postgres';
import { mustBeOneOf } from '@pasteflow/service-kit';
import { z } from 'zod';
import { reportPage, reportSentPage } from '@pasteflow/web';
import type { ApiContext } from '../context.ts';
import { jsonBodyErrors, readJson } from '../http/body/json-body.ts';
import { RequestError, validate } from '../http/answers/request-error.ts';
import { clientAddressOf } from '../http/request/client-address.ts';
import { type Endpoint, pageEndpoint, type Routes } from '../http/openapi/endpoint.ts';
import {
  assertNotGone,
  findErrors,
  findEvenHeld,
  namedPaste,
  pasteGone,
  pasteNotFound,
} from '../pastes/find-named-paste.ts';
import { readUrlForm } from '../http/body/url-form.ts';
import { sendPage } from '../http/pages/page.ts';

/** A text without control characters, except those in `allowed`. */
function textOf(max: number, allowed: string) {
  const refused = new RegExp(`[^\\P{Cc}${allowed}]`, 'u');
  return z
    .string('must be a text')
    .overwrite((text) => text.replaceAll('\r\n', '\n').trim())
    .max(max, `must have at most ${max} characters`)
    .refine((text) => text.isWellFormed() && !refused.test(text), 'must have no control characters');
}

const newReportSchema = z
  .strictObject({
    reason: z.enum(takedownClasses, mustBeOneOf(takedownClasses)),
    text: textOf(MAX_REPORT_CHARACTERS, '\\n\\t')
      .optional()
      .meta({ description: 'What is wrong with the paste, for the operators.' }),
    contact: textOf(MAX_REPORT_CONTACT_CHARACTERS, '')
      .optional()
      .meta({ description: 'Where operators can ask the reporter, such as an email address.' }),
  })
  .meta({
    id: 'NewReport',
    description: 'Why an operator should take the paste down.',
    examples: [{ reason: 'phishing', text: 'It asks for the password of a bank.' }],
  });

/** What each way to report a paste can be answered. */
const reportErrors = [
  ...findErrors.filter((code) => code !== 'paste_held'),
  'report_settled',
  ...jsonBodyErrors,
] as const;

/** The reason, the text and the contact of a report, in UTF-8 with escapes. */
const MAX_REPORT_BYTES = 16_384;

/** POST /v1/pastes/:short_code/reports: asks the operators to take a paste down. */
function reportPaste(api: ApiContext): Endpoint {
  return {
    operation: {
      operationId: 'reportPaste',
      tag: 'pastes',
      access: 'anyone',
      hasOwnKey: true,
      summary: 'Asks the operators to take a paste down.',
      description:
        'Any reader can report a paste, also one that is encrypted or deleted when it is read: it is not read. Another report of the same ' +
        'paste from the same network changes nothing while the first one is open. Once an operator has decided that the content stays, no ' +
        'more reports of it under the same title and slug are taken.',
      params: { path: namedPaste },
      body: {
        required: true,
        content: {
          'application/json': {
            schema: newReportSchema,
            example: { reason: 'phishing', text: 'It asks for the password of a bank.' },
          },
        },
      },
      answers: { 202: { description: 'The report is recorded. An operator will judge it.' } },
      errors: reportErrors,
    },
    handle: async (req, res) => {
      const limit = { what: 'the report', maxBytes: MAX_REPORT_BYTES, budget: api.bodies, weight: 1 };
      await report(api, req, res, await readJson(req, res, newReportSchema, limit));
      res.status(202).end();
    },
  };
}

/** @throws RequestError for a paste that the caller can't report */
async function findReportable(api: ApiContext, req: Request) {
  const paste = await findEvenHeld(api, req);
  if (paste?.status === 'FAILED') throw pasteNotFound();
  assertNotGone(paste);
  return paste;
}

/**
 * Records a report of the paste that the URL names. A reporter is a network, also one that is signed in, so
 * that neither many users nor the many networks of one IPv6 site count as many.
 * @throws RequestError
 */
async function report(
  api: ApiContext,
  req: Request,
  res: Response,
  { reason, text = '', contact = '' }: z.output<typeof newReportSchema>,
): Promise<void> {
  const paste = await findReportable(api, req);
  const reporter = networkOf(clientAddressOf(req), 48);
  await api.limits.countReport(res, reporter);
  const sent = { class: reason, text: text || null, contact: contact || null, reporter };
  const outcome = await insertReport(api.db, paste.id, sent, api.reportsHoldAfter);
  if (outcome === 'recorded') return;
  if (outcome === 'cleared')
    throw new RequestError(
      'report_settled',
      'An operator has looked at reports of this content and decided that it stays. Your report was not recorded.',
    );
  await findReportable(api, req);
  throw pasteGone(); // it was deleted, and replaced, meanwhile
}

/** GET /:short_code/report: the form. It works without JavaScript. */
function showReportForm(api: ApiContext): Endpoint {
  return pageEndpoint({ access: 'anyone', countsMisses: true }, async (req, res) => {
    const { short_code, files } = await findReportable(api, req);
    const shown = { short_code, hasFiles: files !== null, reasons: takedownClasses };
    sendPage(res, reportPage(api.pages.site(req), shown));
  });
}

/** POST /:short_code/report: sends the form. */
function reportFromForm(api: ApiContext): Endpoint {
  return pageEndpoint({ access: 'anyone', countsMisses: true }, async (req, res) => {
    await report(api, req, res, validate(newReportSchema, await readUrlForm(req, res, api.bodies)));
    sendPage(res, reportSentPage(api.pages.site(req)));
  });
}

export const reportRoutes = (api: ApiContext): Routes => ({
  '/v1/pastes/:short_code/reports': { POST: reportPaste(api) },
  '/:short_code/report': { GET: showReportForm(api), POST: reportFromForm(api) },
});
