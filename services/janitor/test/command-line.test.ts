import { describe, expect, it } from '@jest/globals';
import { parseCommandLine } from '../src/command-line.ts';
import { sweepNames } from '../src/sweeping/sweep.ts';

describe('the command line', () => {
  it('is the service when it is empty', () => {
    expect(parseCommandLine([])).toEqual({ kind: 'service' });
  });

  it.each(sweepNames)('takes %s in one word or two', (sweep) => {
    expect(parseCommandLine(['--once', sweep])).toEqual({ kind: 'once', sweep });
    expect(parseCommandLine([`--once=${sweep}`])).toEqual({ kind: 'once', sweep });
  });

  it.each([
    [['--once']],
    [['--once=']],
    [['--once', 'clean']],
    [['--once', 'relay', 'cleanup']],
    [['relay']],
    [['--help', 'relay']],
    [['--once=relay', '--once=cleanup']],
  ])('answers %j with what it would understand', (args) => {
    const command = parseCommandLine(args);
    expect(command).toMatchObject({
      kind: 'misused',
      message: expect.stringContaining(sweepNames.join(', ')),
    });
  });
});
