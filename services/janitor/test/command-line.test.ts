import { describe, expect, it } from '@jest/globals';
import { parseJanitorCommand, usage } from '../src/command-line.ts';
import { sweepNames } from '../src/sweep-names.ts';

describe('the command line of the janitor', () => {
  it('starts the service without arguments', () => {
    expect(parseJanitorCommand([])).toEqual({ kind: 'service' });
  });

  it.each(['--help', '-h'])('shows the usage for %s, which names every sweep', (option) => {
    expect(parseJanitorCommand([option])).toEqual({ kind: 'help' });
    for (const name of sweepNames) expect(usage).toContain(name);
  });

  it.each(sweepNames)('runs %s once, written as one argument or two', (sweep) => {
    const once = { kind: 'once', sweep, allowMassDeletion: false, reason: null };
    expect(parseJanitorCommand(['--once', sweep])).toEqual(once);
    expect(parseJanitorCommand([`--once=${sweep}`])).toEqual(once);
  });

  it('lets reconcile delete more than usual when it is told to', () => {
    const command = parseJanitorCommand(['--once', 'reconcile', '--allow-mass-deletion']);
    expect(command).toEqual({ kind: 'once', sweep: 'reconcile', allowMassDeletion: true, reason: null });
  });

  it('takes the reason of the operator', () => {
    const command = parseJanitorCommand(['--once', 'cleanup', '--reason', 'report 4711']);
    expect(command).toMatchObject({ sweep: 'cleanup', reason: 'report 4711' });
  });

  it.each([
    [['--allow-mass-deletion']],
    [['--once', 'cleanup', '--allow-mass-deletion']],
    [['--once']],
    [['--once=']],
    [['--once', 'clean']],
    [['--once', 'relay', 'cleanup']],
    [['relay']],
    [['--once=relay', '--once=cleanup']],
    [['--colour']],
    [['--reason', 'report 4711']],
    [['--once', 'relay', '--reason']],
  ])('refuses %j and names every sweep', (args) => {
    const command = parseJanitorCommand(args);
    expect(command).toMatchObject({
      kind: 'misused',
      message: expect.stringContaining(sweepNames.join(', ')),
    });
  });
});
