import { type House, INLINE_CONTENT_BYTES, longestExpiry } from '@pasteflow/domain';
import { contentHashOf, mustBeOneOf } from '@pasteflow/service-kit';
import { exportFormats } from '@pasteflow/jobs';
import { z } from 'zod';
import type { ApiContext } from '../context.ts';
import { MULTIPART_OVERHEAD_BYTES, readForm, type Form } from '../http/body/multipart.ts';
import { RequestError, validate, validationFailed } from '../http/answers/request-error.ts';
import { contextOf, messageContextOf } from '../http/request/request-context.ts';
import { callerOf, requireUser } from '../http/callers/caller-of.ts';
import { dispatchJob, insertJob, refuseOverImportLimit } from './new-job.ts';
import { type Endpoint, pageEndpoint } from '../http/openapi/endpoint.ts';
import { goTo } from '../http/pages/page-answers.ts';
import { readUrlForm } from '../http/body/url-form.ts';
import { refuseBrokenRules } from './import-rules.ts';

/** An import may wait for a day behind others. The file is then no longer needed. */
const SOURCE_EXPIRES_IN_SECONDS = 86_400;

/**
 * POST /my/jobs/import: stores a file as a private paste that expires after a day, and starts the import of
 * it. One transaction creates both, so that no file is stored whose import is refused.
 */
export function startImport(api: ApiContext): Endpoint {
  return pageEndpoint({ access: 'user' }, async (req, res) => {
    const userId = requireUser(req);
    api.limits.refuseUsedUpBytes(res, callerOf(req));
    const received = await readForm(req, res, {
      maxBytes: api.maxPasteBytes + MULTIPART_OVERHEAD_BYTES,
      tooLarge: () => tooLarge(api.maxPasteBytes),
      budget: api.bodies,
      weight: 1,
    });
    const content = fileOf(received, api.maxPasteBytes);
    await refuseOverImportLimit(api.db, userId, api.jobLimits); // before the bytes of the file count
    const giveBackBytes = await api.limits.spendBytes(res, callerOf(req), content.length);
    const creation = api.db.transaction().execute(async (db) => {
      const source = await api.inserts.insertWithin(db, sourcePaste(api.house, userId, content));
      const newJob = importOf(api, source.shortCode, received);
      refuseBrokenRules(api, newJob.parameters);
      const job = await insertJob(api, db, userId, newJob);
      return { source, job };
    });
    const { source, job } = await creation.catch((error: unknown) => {
      giveBackBytes();
      throw error;
    });
    const context = contextOf(req);
    context.sizeBytes = content.length;
    api.dispatcher.dispatch({
      executionId: source.executionId,
      shortCode: source.shortCode,
      content: content.length <= INLINE_CONTENT_BYTES ? content : null,
      context: messageContextOf(context),
    });
    dispatchJob(api, req, job);
    goTo(res, `${api.pages.site(req).base}/my/jobs/${job.id}`);
  });
}

function fileOf({ content, files, fields }: Form, maxBytes: number): Buffer {
  if (files.length > 1)
    throw validationFailed([{ path: 'file', message: 'must be one file; pack several into an archive' }]);
  const field = fields.get('file');
  const bytes = content ?? Buffer.from(field ?? '');
  if (bytes.length > maxBytes) throw tooLarge(maxBytes);
  if (bytes.length === 0) throw new RequestError('content_empty', 'Choose a file with at least one byte.');
  return bytes;
}

function tooLarge(maxBytes: number): RequestError {
  return new RequestError('content_too_large', `Send a file of at most ${maxBytes} bytes.`);
}

function sourcePaste(house: House, userId: string, content: Buffer) {
  return {
    userId,
    visibility: 'private' as const,
    content,
    contentHash: contentHashOf(content),
    title: null,
    syntax: null,
    expiresInSeconds: Math.min(SOURCE_EXPIRES_IN_SECONDS, longestExpiry(house, false)),
    deleteTokenHash: null,
  };
}

/** @throws RequestError validation_failed */
function importOf({ jobTypes }: ApiContext, shortCode: string, { files, fields }: Form) {
  const fileName = files[0]?.name.split(/[\\/]/).at(-1);
  const { file: _, expires_in: expiry, as_one_paste: asOnePaste, ...others } = Object.fromEntries(fields);
  const isSeconds = expiry !== undefined && /^\d{1,10}$/.test(expiry);
  const expiresIn = isSeconds ? Number(expiry) : expiry;
  return validate(jobTypes.newJobSchema, {
    job_type: 'import',
    title: fileName?.replaceAll('\0', '').slice(0, 255) || undefined,
    parameters: {
      source_short_code: shortCode,
      ...others,
      ...(asOnePaste !== undefined && { as_one_paste: asOnePaste === 'true' || asOnePaste }),
      ...(expiresIn !== undefined && { expires_in: expiresIn }),
    },
  });
}

const form = z.strictObject({
  format: z.enum(exportFormats, mustBeOneOf(exportFormats)),
});

/** POST /my/jobs/export: starts an export of the user's pastes. */
export function startExport(api: ApiContext): Endpoint {
  return pageEndpoint({ access: 'user' }, async (req, res) => {
    const userId = requireUser(req);
    const parameters = validate(form, await readUrlForm(req, res, api.bodies));
    const job = await insertJob(api, api.db, userId, { job_type: 'export', parameters });
    dispatchJob(api, req, job);
    goTo(res, `${api.pages.site(req).base}/my/jobs/${job.id}`);
  });
}
