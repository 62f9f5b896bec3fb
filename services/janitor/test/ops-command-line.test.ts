import { describe, expect, it } from '@jest/globals';
import { columns, duration } from '../src/ops/columns.ts';
import { parseOpsCommand } from '../src/ops/command-line.ts';
import { runOpsCommand } from '../src/ops/run-ops-command.ts';

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
    ['--help', { kind: 'help' }],
  ])('understands %s', (line, command) => {
    expect(parseOpsCommand(line.split(' '))).toEqual(command);
  });

  it.each([
    ['', 'say what is wanted'],
    ['restart', '"restart" is not understood'],
    ['status now', 'status takes nothing else'],
    ['timeline', 'timeline takes the short code of a paste or the id of a job'],
    ['timeline a b', 'timeline takes the short code of a paste or the id of a job'],
    ['timeline not-a-code', 'timeline takes the short code of a paste or the id of a job'],
    ['status --yaml', "Unknown option '--yaml'"],
  ])('refuses "%s" with 64, and shows how it is used', async (line, message) => {
    const { code, stdout, stderr } = await runOpsCommand(line === '' ? [] : line.split(' '), {});
    expect([code, stdout]).toEqual([64, '']);
    expect(stderr).toContain(`ops: ${message}\n\nUsage:`);
  });

  it('ends with 78 and every problem when it is told nothing of where things are', async () => {
    const { code, stdout, stderr } = await runOpsCommand(['status'], {});
    expect([code, stdout]).toEqual([78, '']);
    for (const what of ['DATABASE_URL', 'AWS_ENDPOINT_URL', 'npm start']) expect(stderr).toContain(what);
  });
});

describe('a table of ops', () => {
  it('has its columns under each other, numbers to the right', () => {
    expect(
      columns(
        ['NAME', '>COUNT'],
        [
          ['one', '1'],
          ['a hundred', '100'],
        ],
      ),
    ).toBe(
      // prettier-ignore
      'NAME       COUNT\none            1\na hundred    100\n',
    );
  });

  it('lets nothing in it move the terminal', () => {
    expect(columns(['WHY'], [['\u001b[2J\r\nfine\u202e']])).toBe('WHY\n [2J fine\n');
  });

  it.each([
    [null, '-'],
    [0.04, '0.0 s'],
    [9.99, '10.0 s'],
    [59.4, '59 s'],
    [2, '2 s'],
    [59.6, '1 m'],
    [200, '3 m 20 s'],
    [3725, '1 h 2 m'],
    [93_600, '1 d 2 h'],
  ])('says %s seconds as %s', (seconds, words) => {
    expect(duration(seconds)).toBe(words);
  });
});
