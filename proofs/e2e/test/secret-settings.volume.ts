import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  createTestDatabase,
  spawnService,
  startTestPostgres,
  type TestPostgres,
} from '@pasteflow/dev-stack/testing';
import {
  entryOf,
  findTraces,
  MIGRATE_ENTRY,
  OPS_ENTRY,
  SETTINGS_EXAMPLE,
  TOKEN_ENTRY,
} from '../src/index.ts';

/**
 * Wrong values, in order, that contain the mark as a secret. The last one is repeated where other settings
 * have more.
 */
type WrongValues = (mark: string) => readonly [string, ...string[]];

/** Of a URL that has the mark as its password. */
const wrongUrls =
  (protocol: string): WrongValues =>
  (mark) => [
    mark,
    `other://user:${mark}@127.0.0.1:1/x`,
    `"${protocol}://user:${mark}@127.0.0.1:1/x"`,
    `${protocol}://user:${mark}/x@127.0.0.1:1/x`,
  ];

const wrongTexts: WrongValues = (mark) => [mark, `${mark} with spaces`, `${mark}é`];

/** The settings that are secrets, or can contain one. */
const secretSettings: Readonly<Record<string, WrongValues>> = {
  DATABASE_URL: wrongUrls('postgres'),
  AWS_ENDPOINT_URL: wrongUrls('http'),
  AWS_ENDPOINT_URL_S3: wrongUrls('http'),
  AWS_ENDPOINT_URL_SQS: wrongUrls('http'),
  AWS_ACCESS_KEY_ID: wrongTexts,
  AWS_SECRET_ACCESS_KEY: wrongTexts,
  AWS_SESSION_TOKEN: wrongTexts,
  OTEL_EXPORTER_OTLP_ENDPOINT: wrongUrls('http'),
  OTEL_EXPORTER_OTLP_HEADERS: (mark) => [mark, `authorization=${mark}%zz, a b=${mark}`, `x=${mark}é`],
  PUBLIC_URL: wrongUrls('https'),
  S3_PUBLIC_ENDPOINT: wrongUrls('http'),
  OIDC_ISSUER: wrongUrls('https'),
  OIDC_CLIENT_SECRET: wrongTexts,
  OPS_URL: wrongUrls('https'),
  WEBHOOK_KEY: (mark) => [mark, `${mark} with spaces`],
  OPS_TOKEN: (mark) => [mark, `${mark} with spaces`, `${mark}é`, `${mark}${mark}`],
  OPS_OIDC_ISSUER: wrongUrls('https'),
  OPS_OIDC_CLIENT_SECRET: wrongTexts,
  OPS_READ_TOKEN: (mark) => [mark, `${mark} with spaces`, `${mark}é`, mark],
};

/** Only the migration reads them. */
const rolePasswords = ['PASTEFLOW_API_PASSWORD', 'PASTEFLOW_WORKER_PASSWORD', 'PASTEFLOW_JANITOR_PASSWORD'];

/** Settings whose names look like those of secrets. */
const notSecret = ['ASSET_URL_SECONDS', 'MAX_SLUGS_PER_USER', 'STACK_POSTGRES_PORT'];

/** Shorter than the shortest token that is accepted. */
const newMark = () => `m${randomBytes(6).toString('hex')}`;

const marks = Object.fromEntries(
  [...Object.keys(secretSettings), ...rolePasswords].map((name) => [name, newMark()]),
);

const programs: readonly (readonly [name: string, entry: string, ...args: string[]])[] = [
  ['the api', entryOf('api')],
  ['the upload-worker', entryOf('upload-worker')],
  ['the janitor', entryOf('janitor')],
  ['a single sweep', entryOf('janitor'), '--once', 'measure'],
  ['npm run ops', OPS_ENTRY, 'status'],
  ['npm run token', TOKEN_ENTRY, 'alice'],
  ['npm run migrate', MIGRATE_ENTRY],
];

/** Nothing listens on port 1. */
const right = {
  DATABASE_URL: 'postgres://user@127.0.0.1:1/pasteflow',
  AWS_ENDPOINT_URL: 'http://127.0.0.1:1',
  API_PORT: '0',
  METRICS_PORT: '0',
  LOG_LEVEL: 'debug',
};

/** Runs a program to its end. A service that starts is stopped. @returns everything that it printed */
async function outputOf([name, entry, ...args]: (typeof programs)[number], env: Record<string, string>) {
  const process = spawnService({ name, entry, args, env: { ...right, ...env } });
  await process.waitFor(/"message":"service started"/).catch(() => {}); // ended before that
  const { code } = await process.stop();
  return { code, lines: [...process.stdout, ...process.stderr] };
}

/** The lines with a secret, each after the name of its setting. */
function leaksIn(lines: readonly string[]): string[] {
  return Object.entries(marks).flatMap(([name, mark]) =>
    findTraces(mark, lines).map((line) => `${name}: ${line}`),
  );
}

/** Each setting with its wrong value of this number. */
function wrong(number: number): Record<string, string> {
  const values = Object.entries(secretSettings).map(([name, wrongValues]) => {
    const all = wrongValues(marks[name] ?? '');
    return [name, all[Math.min(number, all.length - 1)] ?? ''];
  });
  return {
    ...(Object.fromEntries(values) as Record<string, string>),
    OPS_PORT: '0',
    OIDC_CLIENT_ID: 'pasteflow',
  };
}

it('covers each setting of .env.example whose name is that of a secret or of a URL', async () => {
  const text = await readFile(SETTINGS_EXAMPLE, 'utf8');
  const names = [...text.matchAll(/^# ([A-Z][A-Z0-9_]*)=/gm)].map(([, name = '']) => name);
  const suspicious = /PASSWORD|SECRET|TOKEN|KEY|CREDENTIAL|HEADERS|URL|ISSUER|ENDPOINT/;
  const covered = [...Object.keys(secretSettings), ...rolePasswords, ...notSecret];
  expect(names.length).toBeGreaterThan(50);
  expect(names.filter((name) => suspicious.test(name) && !covered.includes(name))).toEqual([]);
});

describe.each(programs)('%s', (...program) => {
  it.each([0, 1, 2, 3])('prints no secret when all of them are wrong (%d)', async (number) => {
    const { code, lines } = await outputOf(program, wrong(number));
    expect([code, lines.length > 0]).toEqual([78, true]);
    expect(leaksIn(lines)).toEqual([]);
  });

  it('prints no secret when only their use shows that they are wrong', async () => {
    const mark = (name: string) => marks[name] ?? '';
    const { lines } = await outputOf(program, {
      DATABASE_URL: `postgres://user:${mark('DATABASE_URL')}%zz@127.0.0.1:1/pasteflow`,
      AWS_ENDPOINT_URL: `http://user:${mark('AWS_ENDPOINT_URL')}@127.0.0.1:1`,
      AWS_ACCESS_KEY_ID: `${mark('AWS_ACCESS_KEY_ID')}\n`,
      AWS_SECRET_ACCESS_KEY: `${mark('AWS_SECRET_ACCESS_KEY')}é`,
      AWS_SESSION_TOKEN: `${mark('AWS_SESSION_TOKEN')}\né`,
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://user:${mark('OTEL_EXPORTER_OTLP_ENDPOINT')}@127.0.0.1:1`,
      OTEL_EXPORTER_OTLP_HEADERS: `authorization=${mark('OTEL_EXPORTER_OTLP_HEADERS')}\u0001é,${mark('OTEL_EXPORTER_OTLP_HEADERS')}`,
      PUBLIC_URL: `https://user:${mark('PUBLIC_URL')}@127.0.0.1:1`,
      S3_PUBLIC_ENDPOINT: `http://user:${mark('S3_PUBLIC_ENDPOINT')}@127.0.0.1:1`,
      OIDC_ISSUER: 'https://127.0.0.1:1',
      OIDC_CLIENT_ID: 'pasteflow',
      OIDC_CLIENT_SECRET: `${mark('OIDC_CLIENT_SECRET')}é`,
      OPS_PORT: '0',
      OPS_URL: `https://user:${mark('OPS_URL')}@127.0.0.1:1`,
      OPS_TOKEN: `${mark('OPS_TOKEN')}-0123456789abcdef`,
    });
    expect(lines).not.toEqual([]);
    expect(leaksIn(lines)).toEqual([]);
  });
});

describe('npm run migrate with a database', () => {
  let stack: TestPostgres;
  beforeAll(async () => {
    stack = await startTestPostgres({});
  });
  afterAll(() => stack.stop());

  it.each(rolePasswords)('does not print %s when it is wrong', async (name) => {
    const { url } = await createTestDatabase(stack);
    const env = { DATABASE_URL: url, [name]: `${marks[name] ?? ''}é` };
    const { code, lines } = await outputOf(['npm run migrate', MIGRATE_ENTRY], env);
    expect([code, lines]).toEqual([1, [expect.stringContaining('must consist of printable ASCII')]]);
    expect(leaksIn(lines)).toEqual([]);
  });
});
