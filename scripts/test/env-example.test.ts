import { expect, it } from '@jest/globals';
import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { retiredSettings } from '../../packages/service-kit/src/retired-settings.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

const readers = [
  'packages/runtime/src/{config,logging}/*.ts',
  'packages/service-kit/src/{settings,house}.ts',
  'packages/postgres/src/roles/create-roles.ts',
  'services/*/src/config.ts',
  'services/api/src/sessions/identity-env.ts',
  'services/janitor/src/operator-oidc-env.ts',
  'packages/dev-stack/src/**/*.ts',
];

/**
 * A key of a zod schema, a `setting`, a property of an environment, or the name of a setting in a message.
 */
const mentions =
  /(?<=^\s+)[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+(?=:)|(?<=\bsetting\(\s*')[A-Z][A-Z0-9_]+|(?<=\benv\.)[A-Z][A-Z0-9_]+|(?<=')STACK_[A-Z_]+(?=')/gm;

/** Read by the AWS SDK itself, set by the operating system or npm, or only for tests. */
const notOurs = new Set([
  'AWS_ACCESS_KEY_ID',
  'AWS_PROFILE',
  'AWS_SECRET_ACCESS_KEY',
  'AWS_SESSION_TOKEN',
  'NODE_COMPILE_CACHE',
  'NODE_ENV',
  'TEST_POSTGRES_FROM',
  'TEST_SERVICES_FROM',
  'TEST_SHARED_POSTGRES',
  'TMPDIR',
  'PATH',
  'PGPASSWORD',
  'PGDATA',
]);

const exampleNames = () =>
  [...readFileSync(`${root}/.env.example`, 'utf8').matchAll(/^#? ?([A-Z][A-Z0-9_]+)=/gm)].map(
    ([, name]) => name as string,
  );

it('no retired name is in .env.example', () => {
  expect(exampleNames().filter((name) => name in retiredSettings)).toEqual([]);
});

it('.env.example lists every variable that the configs read, and no other', () => {
  const read = new Set<string>();
  for (const file of globSync(readers, { cwd: root })) {
    const text = readFileSync(`${root}/${file}`, 'utf8');
    for (const [name] of text.matchAll(mentions)) read.add(name);
  }
  const listed = new Set(exampleNames());
  const only = (names: Set<string>, others: Set<string>) =>
    [...names].filter((name) => !others.has(name) && !notOurs.has(name)).toSorted();
  expect({
    'describe in .env.example': only(read, listed),
    'remove from .env.example, since no config reads it': only(listed, read),
  }).toEqual({ 'describe in .env.example': [], 'remove from .env.example, since no config reads it': [] });
});
