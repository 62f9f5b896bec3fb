import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';

const boundExit = fileURLToPath(new URL('../bound-exit.cjs', import.meta.url));

/** Runs a program that calls the global teardown. The time limit of this test is the limit of a program that does not end. */
function run({ leaves, ms }: { leaves: string; ms: number }) {
  const program = `${leaves}; require(${JSON.stringify(boundExit)}).exitWithin(${ms});`;
  const { status, stderr } = spawnSync(process.execPath, ['-e', program], {
    timeout: 60_000,
    encoding: 'utf8',
  });
  return { status, stderr };
}

describe('the bound of a run of tests', () => {
  it('ends a run that left a server open with an error that names what is open', () => {
    const { status, stderr } = run({ leaves: `require('node:net').createServer().listen(0)`, ms: 10 });
    expect(status).toBe(1);
    expect(stderr).toContain('TCPServerWrap');
  });

  it('does not delay a run that left nothing open', () => {
    expect(run({ leaves: '', ms: 3_600_000 })).toEqual({ status: 0, stderr: '' });
  });
});
