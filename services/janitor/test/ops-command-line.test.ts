import { describe, expect, it } from '@jest/globals';
import { parseOpsCommand } from '../src/ops/command-line.ts';
import { runOpsCommand } from '../src/ops/run-ops-command.ts';

const RETRY_TAKES =
  'retry takes the short code of a paste, or --all-failed-since with a time such as 2026-11-22T04:00Z';
const hash = 'a'.repeat(63) + '7';
const YES_IS_FOR = '--yes is only for adopt-bucket, retry --all-failed-since and takedown --user';
const id = '019523b5-3c4d-7e6f-8a9b-0c1d2e3f4a5b';

describe('the command line of ops', () => {
  it.each([
    ['status', { kind: 'status', json: false }],
    ['--json status', { kind: 'status', json: true }],
    [
      'timeline 8Jk2xQw0Zc',
      { kind: 'timeline', of: { kind: 'paste', shortCode: '8Jk2xQw0Zc' }, json: false },
    ],
    [
      'timeline http://127.0.0.1:3000/8Jk2xQw0Zc --json',
      { kind: 'timeline', of: { kind: 'paste', shortCode: '8Jk2xQw0Zc' }, json: true },
    ],
    [`timeline ${id.toUpperCase()}`, { kind: 'timeline', of: { kind: 'job', id }, json: false }],
    ['retry-dead-letters', { kind: 'retry-dead-letters', json: false }],
    [
      'retry 8Jk2xQw0Zc --reason because',
      { kind: 'retry', which: { kind: 'one', shortCode: '8Jk2xQw0Zc' }, reason: 'because', json: false },
    ],
    ...[true, false].map((yes): [string, object] => [
      `retry --all-failed-since 2026-11-22T04:00Z${yes ? ' --yes' : ''}`,
      {
        kind: 'retry',
        which: { kind: 'since', since: new Date('2026-11-22T04:00:00Z'), yes },
        reason: null,
        json: false,
      },
    ]),
    [`cancel ${id} --reason stop`, { kind: 'cancel', jobId: id, reason: 'stop', json: false }],
    [
      'takedown https://paste.example.org/8Jk2xQw0Zc --reason spam --class spam',
      {
        kind: 'takedown',
        which: { kind: 'one', shortCode: '8Jk2xQw0Zc' },
        class: 'spam',
        reason: 'spam',
        json: false,
      },
    ],
    [
      `takedown --user ${id} --reason spam --yes --json`,
      {
        kind: 'takedown',
        which: { kind: 'user', userId: id, yes: true },
        class: 'other',
        reason: 'spam',
        json: true,
      },
    ],
    [
      `block ${hash.toUpperCase()} --reason x --class malware`,
      {
        kind: 'block',
        content: { kind: 'hash', contentHash: `sha256:${hash}` },
        class: 'malware',
        reason: 'x',
        json: false,
      },
    ],
    [
      `unblock sha256:${hash} --reason x`,
      { kind: 'unblock', content: { kind: 'hash', contentHash: `sha256:${hash}` }, reason: 'x', json: false },
    ],
    [
      'block 8Jk2xQw0Zc --reason x',
      {
        kind: 'block',
        content: { kind: 'paste', shortCode: '8Jk2xQw0Zc' },
        class: 'other',
        reason: 'x',
        json: false,
      },
    ],
    ['blocks', { kind: 'blocks', json: false }],
    ['adopt-bucket --yes', { kind: 'adopt-bucket', yes: true, json: false }],
    ['--help', { kind: 'help' }],
  ])('understands %s', (line, command) => {
    expect(parseOpsCommand(line.split(' '))).toEqual(command);
  });

  it.each([
    ['', 'the command is missing'],
    ['restart', '"restart" is not a command'],
    ['status now', 'status takes no further arguments'],
    ['timeline', 'timeline takes the short code of a paste or the id of a job'],
    ['timeline a b', 'timeline takes the short code of a paste or the id of a job'],
    ['timeline not-a-code', 'timeline takes the short code of a paste or the id of a job'],
    ['retry', RETRY_TAKES],
    ['retry a b', RETRY_TAKES],
    [`retry ${id}`, RETRY_TAKES],
    ['retry abc --all-failed-since 2026-11-22', RETRY_TAKES],
    ['retry --all-failed-since yesterday', RETRY_TAKES],
    ['retry abc --yes', YES_IS_FOR],
    ['status --yes', YES_IS_FOR],
    ['status --all-failed-since 2026-11-22', '--all-failed-since is only for retry'],
    ['timeline abc --reason x', '--reason is only for retry, cancel, takedown, block, unblock'],
    ['takedown abc', 'takedown needs --reason with a text'],
    ['takedown abc --reason= ', 'takedown needs --reason with a text'],
    ['takedown abc --reason x --class rude', '--class is one of illegal, copyright,'],
    [
      `takedown ${id} --reason x`,
      'takedown takes the short code of a paste, or --user with the id of a user',
    ],
    [`takedown abc --user ${id} --reason x`, 'takedown takes the short code of a paste, or --user'],
    ['takedown --user bob --reason x', 'takedown takes the short code of a paste, or --user'],
    ['takedown abc --reason x --yes', YES_IS_FOR],
    [`block ${id} --reason x`, 'block takes a SHA-256 in hex, or the short code of a paste'],
    ['unblock abc --reason x --class spam', '--class is only for takedown and block'],
    [`retry --user ${id}`, '--user is only for takedown'],
    ['blocks now', 'blocks takes no further arguments'],
    ['cancel abc', 'cancel takes the id of a job'],
    [`cancel ${id} ${id}`, 'cancel takes the id of a job'],
    ['status --yaml', "Unknown option '--yaml'"],
  ])('refuses "%s" with 64, and shows the usage', async (line, message) => {
    const { code, stdout, stderr } = await runOpsCommand(line === '' ? [] : line.split(' '), {});
    expect([code, stdout]).toEqual([64, '']);
    expect(stderr).toContain(`ops: ${message}`);
    expect(stderr).toContain('\n\nUsage:');
  });

  it('exits with 78 and names every missing variable when the environment names no database and no queues', async () => {
    const { code, stdout, stderr } = await runOpsCommand(['status'], {});
    expect([code, stdout]).toEqual([78, '']);
    for (const name of ['DATABASE_URL', 'AWS_ENDPOINT_URL']) expect(stderr).toContain(name);
  });
});
