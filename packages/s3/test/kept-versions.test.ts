import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { FaultProxy } from '@pasteflow/dev-stack/testing';
import { createObjectStore, type ObjectStore } from '../src/index.ts';

// The emulator keeps no versions, so the answers are those of S3.
let proxy: FaultProxy;
let store: ObjectStore;
beforeEach(async () => {
  proxy = await FaultProxy.start('http://127.0.0.1:1');
  store = createObjectStore({
    bucket: 'pasteflow',
    region: 'us-east-1',
    endpoint: proxy.url,
    maxAttempts: 1,
    requestTimeoutMs: 10_000,
  });
});
afterEach(async () => {
  store.close();
  await proxy.stop();
});

const answer = (setting: string, status: number, body: string) =>
  proxy.rule({ method: 'GET', path: new RegExp(`[?&]${setting}`) }, { kind: 'answer', status, body });
const error = (code: string) => `<Error><Code>${code}</Code><Message>no</Message></Error>`;
const versioning = (state: string) =>
  answer('versioning', 200, `<VersioningConfiguration><Status>${state}</Status></VersioningConfiguration>`);
const rules = (...all: string[]) =>
  answer(
    'lifecycle',
    200,
    `<LifecycleConfiguration>${all.map((rule) => `<Rule><ID>a</ID>${rule}</Rule>`).join('')}</LifecycleConfiguration>`,
  );
const rule = (prefix: string, days: number, more = '', state = 'Enabled') =>
  `<Status>${state}</Status><Filter><Prefix>${prefix}</Prefix></Filter><NoncurrentVersionExpiration><NoncurrentDays>${days}</NoncurrentDays>${more}</NoncurrentVersionExpiration>`;
const noLock = () => answer('object-lock', 404, error('ObjectLockConfigurationNotFoundError'));

it.each([
  ['without versioning', () => answer('versioning', 200, '<VersioningConfiguration/>')],
  ['of a store that has none', () => answer('versioning', 501, error('NotImplemented'))],
])('a bucket %s keeps nothing', async (_, set) => {
  set();
  expect(await store.keptVersions()).toEqual({ days: 0, lockedDays: 0 });
});

it.each([
  ['no rule', [], null],
  ['a rule for all', [rule('', 7)], 7],
  ['a rule for each prefix', [rule('pastes/', 7), rule('jobs/', 9)], 9],
  ['a rule for one prefix', [rule('pastes/', 7)], null],
  ['a rule that is disabled', [rule('', 7, '', 'Disabled')], null],
  [
    'a rule that keeps the newest',
    [rule('', 7, '<NewerNoncurrentVersions>1</NewerNoncurrentVersions>')],
    null,
  ],
  ['a rule for something below', [rule('pastes/old', 7)], null],
])('a bucket that keeps versions, also of a time before, with %s', async (_, all, days) => {
  versioning('Suspended');
  noLock();
  if (all.length === 0) answer('lifecycle', 404, error('NoSuchLifecycleConfiguration'));
  else rules(...all);
  expect(await store.keptVersions()).toEqual({ days, lockedDays: 0 });
});

it('object lock keeps versions whatever the rule says', async () => {
  versioning('Enabled');
  rules(rule('', 7));
  answer(
    'object-lock',
    200,
    '<ObjectLockConfiguration><ObjectLockEnabled>Enabled</ObjectLockEnabled><Rule><DefaultRetention><Mode>COMPLIANCE</Mode><Years>1</Years></DefaultRetention></Rule></ObjectLockConfiguration>',
  );
  expect(await store.keptVersions()).toEqual({ days: 7, lockedDays: 365 });
});

it('fails when the settings may not be read', async () => {
  answer('versioning', 403, error('AccessDenied'));
  await expect(store.keptVersions()).rejects.toThrow();
});
