// A job type runs in the memory of its test, under the rules of the services.
import { z } from 'zod';
import { asJson, checkJobTypes } from './check-job-types.ts';
import type { Asset, JobEnding, JobType, Kit, Log, MakeJobTypes, NewAsset } from './index.ts';
import { runJobType } from './run-job-type.ts';

export interface LogLine {
  readonly level: 'info' | 'warn';
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

export interface Attempt {
  /** Null: `run` has thrown `error`. */
  readonly ending: JobEnding | null;
  readonly error: unknown;
  readonly progress: readonly { readonly percent: number; readonly message: string | undefined }[];
  readonly log: readonly LogLine[];
}

export interface AttemptOptions {
  /** After so many saved assets the process dies: `signal` aborts, and nothing is stored any more. */
  readonly diesAfterAssets?: number;
  /** The process is asked to stop: `stopping` aborts. Default: never. */
  readonly stopping?: AbortSignal;
  /** The user cancels the job, or another process has it: `signal` aborts, and nothing is stored. Default: never. */
  readonly signal?: AbortSignal;
}

export interface TestAsset extends Asset {
  readonly content: Uint8Array;
}

/** A job, whose attempts follow each other as those of a service do. */
export interface TestJob {
  /** In the order of their creation. */
  readonly assets: readonly TestAsset[];
  attempt(options?: AttemptOptions): Promise<Attempt>;
}

export interface TestOptions {
  /** The pastes that the user may read, by short code. */
  readonly pastes?: Readonly<Record<string, string | Uint8Array>>;
}

class WorkFailedError extends Error {
  override readonly name = 'WorkFailedError';
}

/**
 * Loads job types as a service does, and returns a function that makes a job.
 * @throws JobTypeProblem for what a service would refuse
 */
export async function loadForTest(
  make: MakeJobTypes,
  { pastes = {} }: TestOptions = {},
): Promise<(name: string, parameters: unknown) => TestJob> {
  const lines: LogLine[] = [];
  const kit: Kit = { z, defineJobType: (type) => type, WorkFailedError, log: logInto(lines) };
  const types = await checkJobTypes(make, kit);
  return (name, parameters) => {
    const type = types.find((each) => each.name === name);
    if (type === undefined) throw new Error(`The file has no job type '${name}'.`);
    return new MemoryJob(type, parameters, pastes);
  };
}

class MemoryJob implements TestJob {
  readonly assets: TestAsset[] = [];
  readonly #type: JobType;
  readonly #parameters: unknown;
  readonly #pastes: Readonly<Record<string, string | Uint8Array>>;

  /** @throws ZodError for parameters that the api would refuse with 422, or whose output can't be parsed again */
  constructor(type: JobType, parameters: unknown, pastes: Readonly<Record<string, string | Uint8Array>>) {
    this.#type = type;
    this.#parameters = asJson(type.parameters.parse(parameters));
    type.parameters.parse(this.#parameters);
    this.#pastes = pastes;
  }

  async attempt({ diesAfterAssets = Infinity, stopping, signal }: AttemptOptions = {}): Promise<Attempt> {
    const log: LogLine[] = [];
    const progress: { percent: number; message: string | undefined }[] = [];
    const death = new AbortController();
    const ended = AbortSignal.any([death.signal, ...(signal === undefined ? [] : [signal])]);
    const endsAt = this.assets.length + diesAfterAssets;
    const work = runJobType(this.#type, {
      jobId: '00000000-0000-4000-8000-000000000001',
      userId: '00000000-0000-4000-8000-000000000002',
      parameters: this.#type.parameters.parse(structuredClone(this.#parameters)),
      signal: ended,
      stopping: stopping ?? new AbortController().signal,
      log: logInto(log),
      progress: (percent, message) => void progress.push({ percent, message }),
      listAssets: async () => this.assets.map(({ name, type, bytes }) => ({ name, type, bytes })),
      readAsset: async (name) => this.assets.find((asset) => asset.name === name)?.content ?? null,
      storeAsset: async ({ name, type, content }) => {
        const bytes = await bytesOf(content);
        if (this.assets.length >= endsAt) death.abort(new Error('The process died.'));
        ended.throwIfAborted();
        this.assets.push({ name, type, bytes: bytes.length, content: bytes });
      },
      readAnyPaste: async (shortCode) => {
        const content = this.#pastes[shortCode];
        return content === undefined
          ? { kind: 'refused', reason: `The paste ${shortCode} does not exist.` }
          : { kind: 'content', content: await bytesOf(content) };
      },
    });
    return await work.then(
      (ending) => ({ ending, error: null, progress, log }),
      (error: unknown) => ({ ending: null, error, progress, log }),
    );
  }
}

function logInto(lines: LogLine[]): Log {
  const write =
    (level: LogLine['level']) =>
    (message: string, fields: Readonly<Record<string, unknown>> = {}): void =>
      void lines.push({ level, message, fields });
  return { info: write('info'), warn: write('warn') };
}

async function bytesOf(content: NewAsset['content']): Promise<Uint8Array> {
  if (typeof content === 'string') return new TextEncoder().encode(content);
  if (content instanceof Uint8Array) return content;
  const parts: Uint8Array[] = [];
  for await (const part of content) parts.push(part);
  const whole = new Uint8Array(parts.reduce((bytes, part) => bytes + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
