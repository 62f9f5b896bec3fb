import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { useBed } from './support/bed.ts';

const bed = useBed();

describe('pasteflow completion', () => {
  it.each(['bash', 'zsh', 'fish'])('prints a script for %s with every command', async (shell) => {
    const { code, stdout } = await bed.run(['completion', shell]);
    expect(code).toBe(0);
    for (const name of [
      'put',
      'cat',
      'import',
      'export',
      'watch',
      'cancel',
      'login',
      'title',
      'ask',
      'deposit',
      'resend',
      'paste.stored',
    ])
      expect(stdout).toContain(name);
  });

  it('completes commands and options in bash', async () => {
    const script = join(bed.home, 'completion');
    await writeFile(script, (await bed.run(['completion', 'bash'])).stdout);
    const complete = (...words: string[]): string[] =>
      execFileSync('bash', [
        '-c',
        `source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _pasteflow; printf '%s\\n' "\${COMPREPLY[@]}"`,
        script,
        ...words,
      ])
        .toString()
        .trim()
        .split('\n');
    expect(complete('pasteflow', 'ca')).toEqual(['cat', 'cancel']);
    expect(complete('pasteflow', 'put', '--ti')).toEqual(['--title']);
    expect(complete('pasteflow', 'put', '--sec')).toEqual(['--secret']);
    expect(complete('pasteflow', '--json', 'put', '')).toEqual(['']); // files
    expect(complete('pasteflow', 'webhooks', 'r')).toEqual(['remove', 'rotate', 'resend']);
    expect(complete('pasteflow', 'webhooks', 'add')).toEqual(['add']);
    expect(complete('pasteflow', 'webhooks', 'add', 'https://x', 'paste.s')).toEqual(['paste.stored']);
    expect(complete('pasteflow', 'webhooks', 'deliveries', '--li')).toEqual(['--limit']);
    expect(complete('pasteflow', 'webhooks', 'remove', '--li')).toEqual(['']);
  });

  it('refuses an unknown shell with 2', async () => {
    expect((await bed.run(['completion', 'tcsh'])).code).toBe(2);
  });
});
