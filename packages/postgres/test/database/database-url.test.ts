import { expect, it } from '@jest/globals';
import { databaseUrlProblem, pingDatabase } from '../../src/index.ts';
import { open, useDatabase } from '../support/database.ts';

const current = useDatabase({ fresh: 'file' });

it.each([
  ['an address', 'postgres://me:secret@127.0.0.1:5432/pasteflow'],
  ['no host', 'postgres:///pasteflow?sslmode=verify-full'],
  ['a socket', 'postgresql://me:secret@/pasteflow?host=/run/postgresql'],
  ['an encoded socket', 'postgres://me@%2Frun%2Fpostgresql/pasteflow'],
  ['IPv6', 'postgres://me@[::1]:5432/pasteflow'],
  ['an encoded password', 'postgres://me:%40%2F%3A%3F%23%25%2C%20@127.0.0.1/pasteflow'],
])('a URL with %s is accepted', (_, url) => {
  expect(databaseUrlProblem(url)).toBeNull();
});

it.each([
  [
    'another protocol',
    'mysql://me:secret@127.0.0.1/x',
    'is not a URL that starts with postgres:// or postgresql://',
  ],
  ['several hosts', 'postgres://me:secret@a:5432,b:5432/x', 'with one host'],
  ['several hosts without ports', 'postgres://me:secret@a,b/x', 'names several hosts'],
  ['several hosts as a parameter', 'postgres://me:secret@/x?host=a,b', 'names several hosts'],
  ['a slash in the password', 'postgres://me:sec/ret@127.0.0.1/x', '/ as %2F'],
  ['a comma and a slash in the password', 'postgres://me:secret,b/c@127.0.0.1/x', '/ as %2F'],
  ['a number sign in the password', 'postgres://me:sec#ret@127.0.0.1/x', '# as %23'],
  ['a lone percent sign', 'postgres://me:secret%@127.0.0.1/x', '% as %25'],
  ['an encoding that is not UTF-8', 'postgres://me:secret%e4@127.0.0.1/x', "can't be used (URI malformed)"],
  [
    'a certificate that is missing',
    'postgres://me:secret@127.0.0.1/x?sslrootcert=/none.crt',
    "can't be used (ENOENT",
  ],
])('a URL with %s is refused with the reason, without its password', (_, url, reason) => {
  expect(databaseUrlProblem(url)).toContain(reason);
  expect(databaseUrlProblem(url)).not.toMatch(/secret|sec.ret/);
});

it('a database is reached by a host in the parameters, with the settings of the connection', async () => {
  const { username, password, port, pathname } = new URL(current.url);
  const url = `postgres://${username}:${password}@${pathname}?host=127.0.0.1&port=${port}`;
  expect(databaseUrlProblem(url)).toBeNull();
  const db = open(url, 1);
  await pingDatabase(db);
  await db.destroy();
});
