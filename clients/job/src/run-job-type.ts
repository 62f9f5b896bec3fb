// What the services run job types with: `@pasteflow/job/host`, which no published package exports.
import { z } from 'zod';
import { asJson } from './check-job-types.ts';
import type { Asset, JobContext, JobEnding, JobType, NewAsset, PasteRead } from './index.ts';

export { checkJobTypes, JobTypeProblem, messageOf } from './check-job-types.ts';

/** What an attempt stands on: the services, or a test's memory. */
export interface Host<Parameters> extends Omit<JobContext<Parameters>, 'saveAsset' | 'readPaste'> {
  /** Stores an asset whose name is valid and new to the job. */
  readonly storeAsset: (asset: Required<NewAsset>) => Promise<void>;
  /** With the rights of the job's user. */
  readonly readAnyPaste: (shortCode: string) => Promise<PasteRead>;
}

const MAX_ASSET_NAME_CHARACTERS = 100;
const ASSET_NAME = /^[A-Za-z0-9_-][A-Za-z0-9._-]*$/;
/** `paste` is the type of pastes, which the pages show as such. */
const ASSET_TYPE = /^(?!paste$)[a-z][a-z0-9-]{0,39}$/;

/** What a view of the job can show. More is a matter for an asset. */
const MAX_RESULT_BYTES = 64 * 1024;
const MAX_TEXT_CHARACTERS = 500;

const result = z.record(z.string(), z.unknown());
const ending = z.discriminatedUnion('status', [
  z.strictObject({ status: z.literal('completed'), result }),
  z.strictObject({ status: z.enum(['partial', 'failed']), result, error: z.string().min(1) }),
]);

/** Runs one attempt, and holds the type to its contract. @throws what `run` throws */
export async function runJobType<Schema extends z.ZodType>(
  type: JobType<Schema>,
  host: Host<z.output<Schema>>,
): Promise<JobEnding> {
  const { storeAsset, readAnyPaste, ...context } = host;
  const named = new Set(type.readShortCodes?.(host.parameters));
  let names: Promise<Set<string>> | undefined;
  const returned: unknown = await type.run({
    ...context,
    progress: (percent, message) => {
      // A file that nobody has type-checked may report anything, and reports are stored later than this call.
      context.progress(Number(percent), typeof message === 'string' ? shortened(message) : undefined);
    },
    saveAsset: async (asset) => {
      checkAsset(asset);
      names ??= namesOf(host.listAssets());
      const taken = await names;
      if (taken.has(asset.name))
        throw new Error(`The job has an asset '${asset.name}': skip what listAssets() names.`);
      taken.add(asset.name);
      try {
        await storeAsset({ ...asset, type: asset.type ?? 'file', content: checkedContent(asset) });
      } catch (error) {
        taken.delete(asset.name);
        throw error;
      }
    },
    readPaste: async (shortCode) => {
      if (!named.has(shortCode))
        throw new Error(`readShortCodes of '${type.name}' does not name the paste ${shortCode}.`);
      return await readAnyPaste(shortCode);
    },
  });
  return checkEnding(type.name, returned);
}

async function namesOf(assets: Promise<readonly Asset[]>): Promise<Set<string>> {
  return new Set((await assets).map(({ name }) => name));
}

function checkAsset({ name, type = 'file' }: NewAsset): void {
  if (!ASSET_NAME.test(name) || name.length > MAX_ASSET_NAME_CHARACTERS)
    throw new Error(
      `'${name}' is no name of an asset: use up to ${MAX_ASSET_NAME_CHARACTERS} of A-Z, a-z, 0-9, '.', '_' and '-', and no dot first.`,
    );
  if (!ASSET_TYPE.test(type))
    throw new Error(`'${type}' is no type of an asset: use a-z, 0-9 and '-', and not 'paste'.`);
}

/** Both a test and the service store what this passes on. */
function checkedContent({ name, content }: NewAsset): NewAsset['content'] {
  if (typeof content === 'string' || content instanceof Uint8Array) return content;
  if (typeof (content as Partial<AsyncIterable<unknown>> | undefined)?.[Symbol.asyncIterator] !== 'function')
    throw new Error(`The content of '${name}' is no text, no Uint8Array, and no stream of Uint8Arrays.`);
  return checkedParts(name, content);
}

async function* checkedParts(name: string, parts: AsyncIterable<unknown>): AsyncGenerator<Uint8Array> {
  for await (const part of parts) {
    if (!(part instanceof Uint8Array)) throw new Error(`A part of '${name}' is no Uint8Array.`);
    yield part;
  }
}

function shortened(text: string): string {
  return text.length <= MAX_TEXT_CHARACTERS
    ? text
    : `${text.slice(0, MAX_TEXT_CHARACTERS - 1).toWellFormed()}…`;
}

const isStorable = (text: string): boolean => text.isWellFormed() && !text.includes('\0');

/** What a type returns goes into Postgres. */
function checkEnding(name: string, returned: unknown): JobEnding {
  const { success, data, error } = ending.safeParse(returned);
  if (!success) {
    const [issue] = error.issues;
    throw new Error(`run of '${name}' returned no ending: ${issue?.path.join('.')} ${issue?.message}`);
  }
  const text = JSON.stringify(data.result, (key, value: unknown) => {
    if (isStorable(key) && (typeof value !== 'string' || isStorable(value))) return value;
    throw new Error(
      `run of '${name}' returned a text that Postgres does not store: with a NUL, or half a character.`,
    );
  });
  if (new TextEncoder().encode(text).length > MAX_RESULT_BYTES)
    throw new Error(
      `run of '${name}' returned a result of more than ${MAX_RESULT_BYTES} bytes: save an asset.`,
    );
  const stored = asJson(data);
  return stored.status === 'completed' ? stored : { ...stored, error: shortened(stored.error) };
}
