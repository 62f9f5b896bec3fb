import { extname } from 'node:path';
import type { Asset, Job } from '@pasteflow/client';
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
 * `pasteflow export`: the caller's own pastes in an archive, or in several when they are many: in files whose
 * names are on stdout, or on stdout for `-o -`.
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
  const archives = await archivesOf(session, id);
  if (archives.length === 0)
    throw new Error(
      job.error_message ??
        `The job is ${job.status} and has no archive. The archives of your three newest exports are kept.`,
    );
  const madeFormat = formatOf(job) ?? format;
  const path = options.output ?? `pasteflow-export-${id}.${madeFormat}`;
  if (path === '-') {
    if (archives.length > 1 && madeFormat !== 'ndjson')
      throw new UsageError(
        `The export has ${archives.length} archives, which no program reads from one stream. Name a file: pasteflow export --job ${id} -o FILE`,
      );
    for (const archive of archives) await toStdout(session, archive);
  } else {
    const files = archives.map((_, index) => nameOf(path, index + 1, madeFormat));
    for (const [index, archive] of archives.entries()) await toFile(session, archive, files[index] ?? path);
    output.result({ file: path, files, ...job }, files);
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

/** The first archive has the name that was asked for, and the others a number before its extension. */
function nameOf(path: string, number: number, format: string): string {
  if (number === 1) return path;
  const extension = path.endsWith(`.${format}`) ? `.${format}` : extname(path);
  return `${path.slice(0, path.length - extension.length)}-${number}${extension}`;
}

interface Archive {
  readonly size: number;
  /** A new URL each time: a URL is valid for some minutes. */
  readonly urlOf: () => Promise<string>;
}

/** In their order. */
async function archivesOf({ client, signal }: Session, id: string): Promise<Archive[]> {
  const read = async (): Promise<Asset[]> => {
    const assets: Asset[] = [];
    for await (const asset of client.jobs.assets(id, { signal })) assets.unshift(asset);
    return assets;
  };
  return (await read()).map((asset) => ({
    size: asset.file_size,
    urlOf: async () => (await read()).find((each) => each.id === asset.id)?.url ?? asset.url,
  }));
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
