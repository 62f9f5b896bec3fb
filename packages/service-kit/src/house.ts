import { readFileSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import {
  type ChosenOptions,
  defaultHouse,
  expiryUnlessChosen,
  type House,
  type Logo,
  longestExpiry,
  MAX_EXPIRY_SECONDS,
  MAX_TOKEN_DAYS,
  mayStayForEver,
  MIN_EXPIRY_SECONDS,
} from '@pasteflow/domain';
import { setting } from '@pasteflow/runtime';
import { z } from 'zod';
import type { PasteFieldError, SentOptions } from './new-paste.ts';

const MAX_FILE_BYTES = 64 * 1024;
const MAX_NAME_CHARACTERS = 60;

const EXPIRY_RULE = `must be whole seconds from ${MIN_EXPIRY_SECONDS} to ${MAX_EXPIRY_SECONDS}`;
const seconds = z.int(EXPIRY_RULE).min(MIN_EXPIRY_SECONDS, EXPIRY_RULE).max(MAX_EXPIRY_SECONDS, EXPIRY_RULE);
const defaultSeconds = z.union([seconds, z.literal('never')], `${EXPIRY_RULE}, or "never"`);
const yesOrNo = z.boolean('must be true or false');
const BYTES_RULE = 'must be a whole number of bytes from 1';
const DAYS_RULE = `must be whole days from 0 to ${MAX_TOKEN_DAYS}`;

const URL_RULE = 'must be a URL that begins with https:// or http://';
const isUrl = (text: string): boolean => /^https?:\/\/\S+$/.test(text) && URL.canParse(text);
const link = z.string(URL_RULE).max(2000, URL_RULE).refine(isUrl, URL_RULE).nullable();
const CONTACT_RULE = `${URL_RULE}, or an email address`;
const contact = z
  .string(CONTACT_RULE)
  .max(2000, CONTACT_RULE)
  .refine((text) => isUrl(text) || /^[^\s@:/]+@[^\s@:/]+$/.test(text), CONTACT_RULE)
  .nullable();

const NAME_RULE = `must be one line of 1 to ${MAX_NAME_CHARACTERS} characters`;
const LOGO_RULE = 'must be the name of an .svg or .png file in the folder of house.json';

/** A section of the file, whose unknown keys are errors. */
function section<Shape extends z.ZodRawShape>(shape: Shape) {
  return z
    .strictObject(shape, {
      error: ({ code }) => (code === 'invalid_type' ? 'must be a JSON object' : undefined),
    })
    .partial();
}

const houseFile = section({
  name: z
    .string(NAME_RULE)
    .trim()
    .regex(/^[^\p{C}\p{Zl}\p{Zp}]+$/u, NAME_RULE)
    .refine((name) => Array.from(name).length <= MAX_NAME_CHARACTERS, NAME_RULE),
  logo: z
    .string(LOGO_RULE)
    .regex(/^[\w-][\w.-]*\.(svg|png)$/, LOGO_RULE)
    .nullable(),
  links: section({ imprint: link, privacy: link, terms: link, abuse: contact }),
  expiry: section({ default: defaultSeconds, max: seconds, never: yesOrNo }),
  anonymous: section({
    max_expiry: seconds.nullable(),
    max_bytes: z.int(BYTES_RULE).min(1, BYTES_RULE).nullable(),
    burn_only: yesOrNo,
  }),
  max_token_days: z.int(DAYS_RULE).min(0, DAYS_RULE).max(MAX_TOKEN_DAYS, DAYS_RULE),
});

type HouseFile = z.output<typeof houseFile>;

/** HOUSE: the path of house.json. Without it the house is `defaultHouse`. Read once, when the service starts. */
export const houseEnv: z.ZodType<House> = setting(
  'HOUSE',
  z
    .string()
    .optional()
    .transform((path, context): House => {
      if (path === undefined) return defaultHouse;
      try {
        return readHouse(resolve(path));
      } catch (error) {
        if (!(error instanceof HouseError)) throw error;
        for (const problem of error.problems) context.addIssue(`is ${JSON.stringify(path)}: ${problem}`);
        return z.NEVER;
      }
    }),
);

class HouseError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('; '));
    this.name = 'HouseError';
    this.problems = problems;
  }
}

/** @throws HouseError */
function readHouse(path: string): House {
  const result = houseFile.safeParse(parse(textOf(readSmallFile(path))));
  if (!result.success) throw new HouseError(result.error.issues.flatMap(describe));
  const file = result.data;
  const house = toHouse(
    file,
    file.logo === null || file.logo === undefined ? null : readLogo(resolve(dirname(path), file.logo)),
  );
  const problems = contradictionsIn(house, file);
  if (problems.length > 0) throw new HouseError(problems);
  return house;
}

function toHouse({ expiry = {}, anonymous = {}, ...file }: HouseFile, logo: Logo | null): House {
  const { default: chosen, max = defaultHouse.expiry.max, never = defaultHouse.expiry.never } = expiry;
  const standard = Math.min(defaultHouse.expiry.default ?? max, max);
  return {
    name: file.name ?? defaultHouse.name,
    logo,
    links: {
      imprint: file.links?.imprint ?? null,
      privacy: file.links?.privacy ?? null,
      terms: file.links?.terms ?? null,
      abuse: file.links?.abuse ?? null,
    },
    expiry: { default: chosen === 'never' ? null : (chosen ?? standard), max, never },
    anonymous: {
      maxExpiry: anonymous.max_expiry ?? null,
      maxBytes: anonymous.max_bytes ?? null,
      burnOnly: anonymous.burn_only ?? false,
    },
    maxTokenSeconds:
      file.max_token_days === undefined ? defaultHouse.maxTokenSeconds : file.max_token_days * 86_400,
  };
}

function contradictionsIn({ expiry }: House, file: HouseFile): readonly string[] {
  const problems: string[] = [];
  if (expiry.default === null && !expiry.never)
    problems.push('expiry.default must not be "never" where expiry.never is false');
  if (expiry.default !== null && expiry.default > expiry.max)
    problems.push(`expiry.default must be at most expiry.max, which is ${expiry.max}`);
  if ((file.anonymous?.max_expiry ?? 0) > expiry.max)
    problems.push(`anonymous.max_expiry must be at most expiry.max, which is ${expiry.max}`);
  return problems;
}

function readLogo(path: string): Logo {
  const content = readSmallFile(path);
  const isPng = content.subarray(0, 8).equals(Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'));
  if (path.endsWith('.png') ? !isPng : !content.toString().includes('<svg'))
    throw new HouseError([`logo: ${path} is no ${path.endsWith('.png') ? 'PNG' : 'SVG'} image`]);
  return { content, type: isPng ? 'image/png' : 'image/svg+xml' };
}

function readSmallFile(path: string): Buffer {
  try {
    if (statSync(path).size > MAX_FILE_BYTES)
      throw new HouseError([`${path} has more than ${MAX_FILE_BYTES} bytes`]);
    return readFileSync(path);
  } catch (error) {
    if (error instanceof HouseError) throw error;
    throw new HouseError([
      `${path} cannot be read: ${(error as NodeJS.ErrnoException).code ?? String(error)}`,
    ]);
  }
}

/** Without the byte order mark that some editors write. @throws HouseError */
function textOf(content: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(content);
  } catch {
    throw new HouseError(['the file is not UTF-8; save it as UTF-8']);
  }
}

function parse(text: string): unknown {
  let file: unknown;
  try {
    file = JSON.parse(text);
  } catch (error) {
    throw new HouseError([`the file is no JSON: ${(error as Error).message}`]);
  }
  const twice = keyGivenTwice(text);
  if (twice !== null) throw new HouseError([`${twice} is given twice; remove one of them`]);
  return file;
}

/** JSON.parse would silently take the last of them, and drop the rules of the others. @param text valid JSON */
function keyGivenTwice(text: string): string | null {
  const objects: Set<string>[] = [];
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"(?:\s*:)?|[{}]/g)) {
    if (token === '{') objects.push(new Set());
    else if (token === '}') objects.pop();
    else if (token.endsWith(':')) {
      const key = JSON.parse(token.slice(0, -1)) as string;
      if (objects.at(-1)?.has(key) === true) return key;
      objects.at(-1)?.add(key);
    }
  }
  return null;
}

function describe(issue: z.core.$ZodIssue): readonly string[] {
  const at = (path: readonly PropertyKey[]): string => path.join('.');
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => `${at([...issue.path, key])} is no rule of a house; remove it`);
  return [`${issue.path.length === 0 ? 'the file' : at(issue.path)} ${issue.message}`];
}

/** A new paste with the time of the house, where nothing was said of it. */
export function withExpiry<Options extends SentOptions>(
  house: House,
  options: Options,
  isAnonymous: boolean,
): Options & ChosenOptions {
  const { expiresInSeconds: said } = options;
  const expiresInSeconds = said === undefined ? expiryUnlessChosen(house, isAnonymous) : said;
  return { ...options, expiresInSeconds };
}

/** A new paste, or what a change says of one. */
interface RuledPaste {
  /** null: never; undefined: nothing is said. */
  readonly expiresInSeconds?: number | null | undefined;
  readonly burn?: boolean | undefined;
  readonly sizeBytes: number;
}

/** The rules of the house that a new paste breaks. The paths are those of the API's fields. */
export function houseErrors(
  house: House,
  paste: RuledPaste,
  isAnonymous: boolean,
): readonly PasteFieldError[] {
  const errors: PasteFieldError[] = [];
  const whose = isAnonymous ? 'for pastes without a token' : 'on this service';
  const longest = longestExpiry(house, isAnonymous);
  const expiry = paste.expiresInSeconds;
  if (expiry === null ? !mayStayForEver(house, isAnonymous) : expiry !== undefined && expiry > longest)
    errors.push({ path: 'expires_in', message: `must be at most ${longest} seconds ${whose}` });
  if (!isAnonymous) return errors;
  const { maxBytes, burnOnly } = house.anonymous;
  if (burnOnly && paste.burn !== true)
    errors.push({
      path: 'burn',
      message: 'must be true: pastes without a token are deleted when they are read',
    });
  if (maxBytes !== null && paste.sizeBytes > maxBytes)
    errors.push({ path: 'content', message: `must have at most ${maxBytes} bytes ${whose}` });
  return errors;
}
