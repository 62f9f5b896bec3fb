import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { NewJob } from '@pasteflow/client';
import { EXIT_DONE, EXIT_FAILED, type ExitCode, UsageError } from '../errors.ts';
import { requireToken, type Session } from '../session.ts';
import { archivesOf, toFile } from './export.ts';
import { waitForJob } from './jobs.ts';

/** A server may answer any name, and it becomes the name of a file. */
const ASSET_NAME = /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}$/;

/**
 * `pasteflow run TYPE [PARAMETERS]`: starts a job, also of a type that the operator of the server has added, waits for
 * it, and prints its result, and the names of the files that it has saved.
 */
export async function runJob(
  session: Session,
  type: string,
  given: string,
  { output: folder }: { readonly output?: string },
): Promise<ExitCode> {
  const { client, output, terminal, signal } = session;
  requireToken(session);
  const parameters = parsed(given === '-' ? await text(terminal.stdin) : given);
  const { job_id: id } = await client.jobs.create({ job_type: type, parameters } as NewJob, { signal });
  const job = await waitForJob(session, id);
  const files = folder === undefined ? [] : await save(session, id, folder);
  output.result({ ...job, files }, [JSON.stringify(job.result), ...files]);
  if (job.status === 'completed') return EXIT_DONE;
  output.problem(job.error_message ?? `The job is ${job.status}.`);
  return EXIT_FAILED;
}

/** @throws UsageError */
function parsed(json: string): object {
  try {
    const parameters: unknown = JSON.parse(json);
    if (typeof parameters === 'object' && parameters !== null && !Array.isArray(parameters))
      return parameters;
  } catch {}
  throw new UsageError(`The parameters are no object of JSON, such as '{"feeds": ["news"]}'.`);
}

async function save(session: Session, id: string, folder: string): Promise<readonly string[]> {
  const files: string[] = [];
  await mkdir(folder, { recursive: true });
  for (const asset of await archivesOf(session, id)) {
    const { name } = asset;
    if (name === null) continue;
    if (!ASSET_NAME.test(name)) throw new Error(`The server names a file ${JSON.stringify(name)}.`);
    const path = join(folder, name);
    await toFile(session, asset, path, false); // nor does a link there
    files.push(path);
  }
  return files;
}
