import { basename } from 'node:path';
import { JobFailedError, PasteflowApiError } from '@pasteflow/client';
import { EXIT_DONE, EXIT_FAILED, type ExitCode } from '../errors.ts';
import { openContent } from '../files/content-source.ts';
import { requireToken, type Session } from '../session.ts';
import { expiryOf } from '../settings/named.ts';
import { type ReaderOptions, visibilityOf } from '../settings/paste-flags.ts';
import { sizeText, startProgress } from '../terminal/progress-bar.ts';
import { waitForJob } from './jobs.ts';

/** The archive is a paste until the job has read it. The job may wait for its turn. */
const SOURCE_SECONDS = 7 * 86_400;

/**
 * `pasteflow import FILE`: makes a paste of each entry of an archive or of NDJSON, or one of all files of an
 * archive, with their URLs on stdout.
 */
export async function importFile(
  session: Session,
  file: string,
  options: {
    readonly expires?: string;
    readonly asOnePaste?: boolean;
  } & ReaderOptions,
): Promise<ExitCode> {
  const { client, output, signal } = session;
  const expires = options.expires === undefined ? {} : { expires_in: expiryOf(options.expires) };
  const visibility = visibilityOf(options);
  requireToken(session);
  const source = await upload(session, file);
  const parameters = {
    source_short_code: source,
    ...expires,
    ...(visibility !== undefined && { visibility }),
    ...(options.asOnePaste === true && { as_one_paste: true }),
  };
  const { job_id: id } = await client.jobs.create(
    { job_type: 'import', ...(file !== '-' && { title: basename(file) }), parameters },
    { signal },
  );
  const job = await waitForJob(session, id).catch(async (error: unknown) => {
    if (error instanceof JobFailedError) await client.pastes.delete(source, { signal });
    throw error;
  });
  await client.pastes.delete(source, { signal });
  const urls: string[] = [];
  for await (const asset of client.jobs.assets(id, { signal })) urls.push(asset.url);
  output.result(job, urls);
  for (const line of skippedIn(job.result)) output.note(line);
  if (job.status === 'completed') return EXIT_DONE;
  output.problem(job.error_message ?? `The job is ${job.status}.`, file);
  for (const line of failuresIn(job.result)) output.note(line);
  return EXIT_FAILED;
}

/** @returns the short code of a private paste with the file's content */
async function upload(session: Session, file: string): Promise<string> {
  const { client, terminal, signal } = session;
  const expiresIn = Math.min(SOURCE_SECONDS, await longestExpiry(session));
  const progress = startProgress(terminal);
  let sent = 0;
  let size = 0;
  const source = await openContent(file, terminal.stdin, (bytes) => {
    sent += bytes;
    progress.update(sent / size, `${sizeText(sent)} of ${sizeText(size)} sent`);
  });
  size = source.size;
  try {
    const fields = { visibility: 'private', expires_in: expiresIn } as const;
    const paste = await client.pastes.create(source.content, { ...fields, wait: true, signal });
    return paste.short_code;
  } finally {
    progress.end();
    await source.close();
  }
}

/** In seconds, of any paste on the server. An older server does not tell, and has no rule. */
async function longestExpiry({ client, signal }: Session): Promise<number> {
  try {
    return (await client.instance({ signal })).expiry.max;
  } catch (error) {
    if (error instanceof PasteflowApiError && error.status === 404) return Infinity;
    throw error;
  }
}

/**
 * The entries that were not imported, and why. The API counts from 0; people, and their editors, count from
 * 1. Only NDJSON has entries without names, and counts lines.
 */
function failuresIn(result: Readonly<Record<string, unknown>> | null): readonly string[] {
  const { errors } = result ?? {};
  if (!Array.isArray(errors)) return [];
  return (errors as readonly { position: number; name: string | null; reason: string }[]).map(
    ({ position, name, reason }) =>
      `${name === null ? `line ${position + 1}` : `entry ${position + 1} ${name}`}: ${reason}`,
  );
}

/** The files that macOS has added to the archive. */
function skippedIn(result: Readonly<Record<string, unknown>> | null): readonly string[] {
  const { skipped_files: files } = result ?? {};
  if (!Array.isArray(files)) return [];
  return (files as readonly { position: number; name: string | null }[]).map(
    ({ position, name }) =>
      `entry ${position + 1} ${name}: skipped, because macOS has added it to the archive`,
  );
}
