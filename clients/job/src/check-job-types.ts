import { z } from 'zod';
import type { JobType, Kit } from './index.ts';

/** What is wrong with a file of job types, as the end of a sentence that begins with the file. */
export class JobTypeProblem extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'JobTypeProblem';
  }
}

/** Each word begins with a letter, so that two names never make one name in the OpenAPI document. */
const NAME = /^[a-z][a-z0-9]*(?:-[a-z][a-z0-9]*)*$/;
const MAX_NAME_CHARACTERS = 40;
const MAX_SUMMARY_CHARACTERS = 200;

const isFunction = (value: unknown): boolean => typeof value === 'function';

const jobTypeShape = z.strictObject({
  name: z
    .string('must be a text')
    .max(MAX_NAME_CHARACTERS, `must have at most ${MAX_NAME_CHARACTERS} characters`)
    .regex(NAME, 'must be words of a-z and 0-9 that begin with a letter, joined by hyphens'),
  summary: z
    .string('must be a sentence')
    .trim()
    .min(1, 'must be a sentence')
    .max(MAX_SUMMARY_CHARACTERS, `must have at most ${MAX_SUMMARY_CHARACTERS} characters`),
  parameters: z.custom(
    (value) => value instanceof z.ZodType,
    'must be a schema that was made with kit.z, and with no other copy of zod',
  ),
  example: z.unknown(),
  contentParameters: z.array(z.string(), 'must be a list of names of parameters').optional(),
  maxOpen: z.int('must be a whole number from 1').min(1, 'must be a whole number from 1').optional(),
  readShortCodes: z.custom(isFunction, 'must be a function').optional(),
  run: z.custom(isFunction, 'must be a function'),
});

/**
 * Calls what the file exports, and checks the job types that it returns.
 * @param reserved names that no type may have, each with the reason
 * @throws JobTypeProblem
 */
export async function checkJobTypes(
  exported: unknown,
  kit: Kit,
  reserved: ReadonlyMap<string, string> = new Map(),
): Promise<readonly JobType[]> {
  if (typeof exported !== 'function')
    throw new JobTypeProblem(
      'has no function as its default export; write `export default (kit) => kit.defineJobType({ … })`',
    );
  const made = await callOf(exported as (kit: Kit) => unknown, kit);
  const types: readonly unknown[] = Array.isArray(made) ? made : [made];
  if (types.length === 0) throw new JobTypeProblem('returns an empty list; return at least one job type');
  const names = new Map(reserved);
  return types.map((type) => {
    const checked = checkJobType(type);
    const taken = names.get(checked.name);
    if (taken !== undefined)
      throw new JobTypeProblem(
        `has a job type '${checked.name}', but ${taken}; give it another name, like 'our-${checked.name}'`,
      );
    names.set(checked.name, 'there is another one of this name in the file');
    return checked;
  });
}

async function callOf(make: (kit: Kit) => unknown, kit: Kit): Promise<unknown> {
  try {
    return await make(kit);
  } catch (error) {
    throw new JobTypeProblem(`throws when its default export is called: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

function checkJobType(made: unknown): JobType {
  const { success, error } = jobTypeShape.safeParse(made);
  if (!success) {
    const [issue] = error.issues;
    const field = issue?.path.join('.') ?? '';
    throw new JobTypeProblem(
      field === ''
        ? `returns what is no job type: ${issue?.message}`
        : `returns a job type whose ${field} is wrong: it ${issue?.message}`,
    );
  }
  const type = made as JobType;
  checkSchema(type);
  checkExample(type);
  return type;
}

interface ObjectSchema {
  readonly type?: string;
  readonly properties?: object;
  readonly additionalProperties?: unknown;
  readonly anyOf?: readonly ObjectSchema[];
  readonly oneOf?: readonly ObjectSchema[];
}

function checkSchema({ name, parameters, contentParameters = [] }: JobType): void {
  let schema: ObjectSchema;
  try {
    schema = z.toJSONSchema(parameters, { io: 'input' }) as ObjectSchema;
  } catch (error) {
    throw new JobTypeProblem(
      `has parameters of '${name}' that the OpenAPI document can't describe: ${messageOf(error)}`,
      { cause: error },
    );
  }
  const kinds = kindsOf(schema);
  if (!kinds.every(({ type }) => type === 'object'))
    throw new JobTypeProblem(`has parameters of '${name}' that are no object; use kit.z.strictObject({ … })`);
  const unknown = contentParameters.find((each) => !kinds.some((kind) => mayHave(kind, each)));
  if (unknown !== undefined)
    throw new JobTypeProblem(
      `has contentParameters of '${name}' that name '${String(unknown)}', which is no parameter`,
    );
}

function kindsOf(schema: ObjectSchema): readonly ObjectSchema[] {
  return (schema.anyOf ?? schema.oneOf)?.flatMap(kindsOf) ?? [schema];
}

function mayHave({ properties = {}, additionalProperties }: ObjectSchema, name: PropertyKey): boolean {
  return Object.hasOwn(properties, name) || typeof additionalProperties === 'object';
}

function checkExample(type: JobType): void {
  const { name, parameters, example } = type;
  const parsed = parameters.safeParse(example);
  const again = parsed.success ? parameters.safeParse(asJson(parsed.data)) : parsed;
  if (parsed.success && again.success && typeof parsed.data === 'object')
    return checkShortCodes(type, again.data);
  const [issue] = again.error?.issues ?? [];
  const why = issue === undefined ? 'it is no object' : `${issue.path.join('.')} ${issue.message}`.trim();
  throw new JobTypeProblem(
    parsed.success
      ? `has parameters of '${name}' whose output, which is stored, can't be parsed again: ${why}`
      : `has an example of '${name}' that its own schema refuses: ${why}`,
  );
}

function checkShortCodes({ name, readShortCodes }: JobType, parameters: unknown): void {
  if (readShortCodes === undefined) return;
  let codes: unknown;
  try {
    codes = readShortCodes(parameters);
  } catch (error) {
    throw new JobTypeProblem(
      `has readShortCodes of '${name}' that throw for its example: ${messageOf(error)}`,
      {
        cause: error,
      },
    );
  }
  if (!z.array(z.string()).safeParse(codes).success)
    throw new JobTypeProblem(`has readShortCodes of '${name}' that return no list of texts for its example`);
}

/** As it is stored. @throws TypeError for what JSON can't hold */
export function asJson<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
