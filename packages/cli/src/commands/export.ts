import type { Job } from '@pasteflow/client';
import { EXIT_DONE, EXIT_FAILED, type ExitCode, UsageError } from '../errors.ts';
import { download } from '../files/download.ts';
import { assertWritable, writeAtomically } from '../files/write-atomically.ts';
import { requireToken, type Session } from '../session.ts';
import { jobNamedBy } from '../settings/named.ts';
import { sizeText, startProgress } from '../terminal/progress-bar.ts';
import { writeTo } from '../terminal/terminal.ts';
import { waitForJob } from './jobs.ts';

export interface ExportOptions {
  readonly output?: string;
  readonly format: string;
  /** The id of an export that runs or has ended. */
  readonly job?: string;
}

const FORMATS = ['zip', 'tar.gz', 'ndjson'] as const;

/**
 * `pasteflow export`: an archive of the caller's own pastes, in a file whose name is on stdout, or on stdout
 * for `-o -`.
 */
export async function exportPastes(session: Session, options: ExportOptions): Promise<ExitCode> {
  const { output, terminal } = session;
  const format = FORMATS.find((each) => each === options.format);
  if (format === undefined) throw new UsageError(`--format takes one of ${FORMATS.join(', ')}.`);
  requireToken(session);
  if (options.output === '-' && terminal.stdout.isTTY === true)
    throw new UsageError(
      'An archive is not for a terminal. Name a file with --output, or send stdout to one.',
    );
  if (options.output !== undefined && options.output !== '-') await assertWritable(options.output);
  const id =
    options.job === undefined ? await create(session, format) : await findExport(session, options.job);
  const job = await waitForJob(session, id, `pasteflow export --job ${id}`);
  const archive = await archiveOf(session, id);
  if (archive === undefined)
    throw new Error(job.error_message ?? `The job is ${job.status} and has no archive.`);
  const path = options.output ?? `pasteflow-export-${id}.${formatOf(job) ?? format}`;
  if (path === '-') await toStdout(session, archive);
  else {
    await toFile(session, archive, path);
    output.result({ file: path, ...job }, [path]);
  }
  if (job.status === 'completed') return EXIT_DONE;
  output.problem(job.error_message ?? `The job is ${job.status}.`);
  return EXIT_FAILED;
}

async function create({ client, signal }: Session, format: (typeof FORMATS)[number]): Promise<string> {
  const { job_id: id } = await client.jobs.create({ job_type: 'export', parameters: { format } }, { signal });
  return id;
}

/** @throws UsageError for a job of another type */
async function findExport({ client, server, signal }: Session, argument: string): Promise<string> {
  const { id, job_type: type } = await client.jobs.get(jobNamedBy(argument, server), { signal });
  if (type !== 'export') throw new UsageError(`Job ${id} is an ${type} and has no archive.`);
  return id;
}

/** One of the formats, whatever the server says: it becomes a part of the name of a file. */
function formatOf({ parameters }: Job): (typeof FORMATS)[number] | undefined {
  return FORMATS.find((each) => each === parameters.format);
}

interface Archive {
  readonly size: number;
  /** A new URL each time: a URL is valid for some minutes. */
  readonly urlOf: () => Promise<string>;
}

async function archiveOf({ client, signal }: Session, id: string): Promise<Archive | undefined> {
  const read = async () => (await client.jobs.assets(id, { signal }).page()).items[0];
  const asset = await read();
  if (asset === undefined) return undefined;
  return { size: asset.file_size, urlOf: async () => (await read())?.url ?? asset.url };
}

async function toFile(session: Session, { urlOf, size }: Archive, path: string): Promise<void> {
  const progress = startProgress(session.terminal);
  try {
    await writeAtomically(
      path,
      async (file) => {
        await download({
          urlOf,
          size,
          signal: session.signal,
          write: async (chunk, position) => {
            await file.writeFile(chunk); // after the last chunk: `write` may write a part of a chunk only
            const received = position + chunk.length;
            progress.update(received / size, `${sizeText(received)} of ${sizeText(size)}`);
          },
        });
      },
      { followsLink: true },
    );
  } finally {
    progress.end();
  }
}

async function toStdout({ terminal, signal }: Session, { urlOf, size }: Archive): Promise<void> {
  await download({ urlOf, size, signal, write: (chunk) => writeTo(terminal.stdout, chunk) });
}
