import { readFileSync } from 'node:fs';
import { ConfigError } from '@pasteflow/runtime';
import { describe, expect, it } from '@jest/globals';
import { commandName, misused, parseArguments, quote, runCommandLine, succeeded } from '../src/index.ts';

describe('parseArguments', () => {
  const options = { json: { type: 'boolean' }, name: { type: 'string' } } as const;

  it('returns options and positionals in any order', () => {
    expect(parseArguments(['--json', 'a', '--name=b', 'c'], options)).toMatchObject({
      kind: 'parsed',
      values: { json: true, name: 'b' },
      positionals: ['a', 'c'],
    });
  });

  it.each([
    ['--yaml', "Unknown option '--yaml'"],
    ['--name', "Option '--name <value>' argument missing"],
    ['--json=yes', "Option '--json' does not take an argument"],
  ])('explains in one line what is wrong with %s', (arg, message) => {
    expect(parseArguments([arg], options)).toEqual(misused(message));
  });
});

describe('quote', () => {
  it('shortens an argument, escapes it, and hides an API token in it', () => {
    expect(quote('x'.repeat(200))).toHaveLength(102);
    expect(quote('a\u001b[2J')).toBe(String.raw`"a\u001b[2J"`);
    expect(quote('pf_abc-DEF_1 x')).toBe('"pf_… x"');
  });
});

describe('commandName', () => {
  it.each([
    ['ops', 'dist/ops-main.js', 'service=janitor main=ops-main.js'],
    ['token', 'dist/token-main.js', 'service=api main=token-main.js'],
    ['janitor', 'dist/main.js', 'service=janitor main=main.js'],
  ] as const)('is what starts %s in a checkout, in a container and on one machine', (name, inImage, runs) => {
    expect(commandName(name)).toBe(`npm run ${name} --`);
    expect(commandName(name, '/app/node_modules/x.js')).toBe(inImage);
    expect(commandName(name, '/opt/pasteflow/janitor/x.js')).toBe(`pasteflow-${name}`);
    const command = readFileSync(new URL('../../../infra/one-machine/command', import.meta.url), 'utf8');
    expect(command).toContain(`pasteflow-${name}) ${runs} `);
    expect(command).toContain('/opt/pasteflow/node ');
  });
});

describe('runCommandLine', () => {
  const thrown = async (error: unknown) => {
    const parse = () => ({ kind: 'go' });
    return await runCommandLine(
      { name: 'ops', usage: 'Usage\n', parse, run: () => Promise.reject(error) },
      [],
      {},
    );
  };

  it('prints the usage for help, and below what is wrong', async () => {
    const run = () => Promise.resolve(succeeded('ran'));
    const help = { name: 'ops', usage: 'Usage\n', parse: () => ({ kind: 'help' as const }), run } as const;
    expect(await runCommandLine(help, [], {})).toEqual({ code: 0, stdout: 'Usage\n', stderr: '' });
    const wrong = { name: 'ops', usage: 'Usage\n', parse: () => misused('no'), run } as const;
    expect(await runCommandLine(wrong, [], {})).toEqual({
      code: 64,
      stdout: '',
      stderr: 'ops: no\n\nUsage\n',
    });
    const long = { ...wrong, usage: 'Usage\n'.repeat(22) };
    expect((await runCommandLine(long, [], {})).stderr).toBe(
      'ops: no\n\nnpm run ops -- --help shows all commands and options.\n',
    );
  });

  it('exits with 78 for a wrong configuration and with 1 for any other error', async () => {
    expect(await thrown(new ConfigError(['A is missing']))).toEqual({
      code: 78,
      stdout: '',
      stderr: 'ops: The configuration has 1 problem:\n  A is missing\n',
    });
    expect(await thrown(new Error('broken'))).toEqual({ code: 1, stdout: '', stderr: 'ops: broken\n' });
    expect(await thrown('text')).toMatchObject({ code: 1, stderr: 'ops: text\n' });
  });
});
