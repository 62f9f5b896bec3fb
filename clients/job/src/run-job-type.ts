import { z } from 'zod';
import { asJson } from './check-job-types.ts';
import type { Asset, JobContext, JobEnding, JobType, NewAsset, PasteRead } from './index.ts';

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
      context.progress(Number(percent), typeof message === 'string' ? message : undefined);
    },
    saveAsset: async (asset) => {
      checkAsset(asset);
      names ??= namesOf(host.listAssets());
      const taken = await names;
      if (taken.has(asset.name))
        throw new Error(`The job has an asset '${asset.name}': skip what listAssets() names.`);
      taken.add(asset.name);
      try {
        await storeAsset({ type: 'file', ...asset });
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

const isStorable = (text: string): boolean => text.isWellFormed() && !text.includes('\0');

/** What a type returns goes into Postgres. */
function checkEnding(name: string, returned: unknown): JobEnding {
  const { success, data, error } = ending.safeParse(returned);
  if (!success) {
    const [issue] = error.issues;
    throw new Error(`run of '${name}' returned no ending: ${issue?.path.join('.')} ${issue?.message}`);
  }
  JSON.stringify(data, (key, value: unknown) => {
    if (isStorable(key) && (typeof value !== 'string' || isStorable(value))) return value;
    throw new Error(
      `run of '${name}' returned a text that Postgres does not store: with a NUL, or half a character.`,
    );
  });
  return asJson(data);
}
