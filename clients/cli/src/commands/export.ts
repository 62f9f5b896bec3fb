import { extname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Asset, Job } from '@pasteflow/client';
import { EXIT_DONE, EXIT_FAILED, type ExitCode, UsageError } from '../errors.ts';
import { assertWritable, writeAtomically } from '../files/write-atomically.ts';
import { requireToken, type Session } from '../session.ts';
import { jobNamedBy } from '../settings/named.ts';
import { sizeText, startProgress } from '../terminal/progress-bar.ts';
import { writeTo } from '../terminal/terminal.ts';
import { waitForJob } from './jobs.ts';

const FORMATS = ['zip', 'tar.gz', 'ndjson'] as const;

/**
 * `pasteflow export`: the caller's own pastes in an archive, or in several when they are many: in files whose
 * names are on stdout, or on stdout for `-o -`.
 */
export async function exportPastes(
  session: Session,
  options: {
    readonly output?: string;
    readonly format: string;
    /** The id of an export that runs or has ended. */
    readonly job?: string;
  },
): Promise<ExitCode> {
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
    for (const [index, archive] of archives.entries())
      await toFile(session, archive, files[index] ?? path, true);
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
  /** Null: it has none, as an archive of an export. */
  readonly name: string | null;
  readonly size: number;
  /** A new URL each time: a URL is valid for some minutes. */
  readonly urlOf: () => Promise<string>;
}

/** What a job has saved, in its order. */
export async function archivesOf({ client, signal }: Session, id: string): Promise<Archive[]> {
  const read = async (): Promise<Asset[]> => {
    const assets: Asset[] = [];
    for await (const asset of client.jobs.assets(id, { signal })) assets.unshift(asset);
    return assets;
  };
  return (await read()).map((asset) => ({
    name: asset.name,
    size: asset.file_size,
    urlOf: async () => (await read()).find((each) => each.id === asset.id)?.url ?? asset.url,
  }));
}

/** @param followsLink true: the user has named the path */
export async function toFile(
  session: Session,
  { urlOf, size }: Archive,
  path: string,
  followsLink: boolean,
): Promise<void> {
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
      { followsLink },
    );
  } finally {
    progress.end();
  }
}

async function toStdout({ terminal, signal }: Session, { urlOf, size }: Archive): Promise<void> {
  await download({ urlOf, size, signal, write: (chunk) => writeTo(terminal.stdout, chunk) });
}

type Write = (chunk: Uint8Array, position: number) => Promise<void>;

/** Requests in a row that may bring nothing. */
const MAX_STALLS = 8;

const FIRST_WAIT_MS = 250;
const MAX_WAIT_MS = 8000;

/** A request that brings nothing for so long is given up, and the next one continues. */
const SILENCE_MS = 30_000;

/** The part of a download that is there. */
interface Received {
  bytes: number;
  etag: string | null;
}

/**
 * Downloads a file. When a request breaks off, the next one continues at the same byte, if the file is still
 * the same (`If-Range`, and the ETag of the answer, for servers that ignore `If-Range`).
 * @throws Error when the file has changed meanwhile, or too many requests in a row bring nothing
 */
async function download({
  urlOf,
  size,
  write,
  signal,
}: {
  /** The URL for the next request: a signed one may have expired since the last. */
  readonly urlOf: () => Promise<string>;
  /** In bytes. */
  readonly size: number;
  readonly write: Write;
  readonly signal: AbortSignal;
}): Promise<void> {
  const received: Received = { bytes: 0, etag: null };
  for (let stalls = 0; received.bytes < size;) {
    const before = received.bytes;
    try {
      await receive(await urlOf(), received, write, signal);
      if (received.bytes > size) throw new ChangedError();
      if (received.bytes < size)
        throw new Error(`the download ended after ${received.bytes} of ${size} bytes`);
    } catch (error) {
      signal.throwIfAborted();
      stalls = received.bytes > before ? 1 : stalls + 1;
      if (error instanceof ChangedError || stalls > MAX_STALLS) throw error;
      await sleep(Math.min(FIRST_WAIT_MS * 2 ** (stalls - 1), MAX_WAIT_MS), undefined, { signal });
    }
  }
}

class ChangedError extends Error {
  constructor() {
    super('The file has changed during the download. Download it again.');
  }
}

async function receive(url: string, received: Received, write: Write, outer: AbortSignal): Promise<void> {
  const silence = new AbortController();
  const signal = AbortSignal.any([outer, silence.signal]);
  const hear = () =>
    setTimeout(() => silence.abort(new Error(`nothing arrived for ${SILENCE_MS} ms`)), SILENCE_MS);
  let timer = hear();
  try {
    const response = await fetch(url, { headers: headersFor(received), signal });
    assertContinues(response, received);
    received.etag = response.headers.get('ETag');
    for await (const chunk of response.body ?? []) {
      clearTimeout(timer);
      await write(chunk, received.bytes);
      received.bytes += chunk.length;
      timer = hear();
    }
  } finally {
    clearTimeout(timer);
  }
}

function headersFor({ bytes, etag }: Received): Record<string, string> {
  if (bytes === 0) return {};
  return { Range: `bytes=${bytes}-`, ...(etag !== null && { 'If-Range': etag }) };
}

function assertContinues({ status, headers, ok }: Response, { bytes, etag }: Received): void {
  if (!ok) throw new Error(`the store answered ${status}`);
  if (bytes === 0) return;
  const isRest = status === 206 && headers.get('Content-Range')?.startsWith(`bytes ${bytes}-`) === true;
  if (!isRest || headers.get('ETag') !== etag) throw new ChangedError();
}
