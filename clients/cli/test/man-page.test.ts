import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, test } from '@jest/globals';
import { Command } from 'commander';
import { buildProgram } from '../src/program.ts';
import { manPage } from '../man-page.ts';

const file = new URL('../pasteflow.1', import.meta.url).pathname;
const page = readFileSync(file, 'utf8').replaceAll(String.raw`\-`, '-');
const program = buildProgram(process, async () => {});

const withCommands = (command: Command): readonly Command[] => [
  command,
  ...command.commands.flatMap(withCommands),
];

describe('the manual page of pasteflow', () => {
  it('has each command with each of its options', () => {
    const commands = withCommands(program);
    expect(commands.length).toBeGreaterThan(30);
    const missing = commands.flatMap((command) =>
      [command.description().slice(0, 20), ...command.options.map(({ flags }) => `.B ${flags}`)].filter(
        (words) => !page.includes(words),
      ),
    );
    expect(missing).toEqual([]);
  });

  it('takes no text for a request or an escape', () => {
    const any = new Command('any').description('Any.');
    any.command('other').description(String.raw`.TH 'a' \fB~^-`);
    expect(manPage(any)).toContain(String.raw`\&.TH \(aqa\(aq \efB\(ti\(ha\-` + '\n');
  });

  it('says which environment, files and exit status there are', () => {
    const titles = [...page.matchAll(/^\.SH (.*)$/gm)].map(([, title]) => title);
    expect(titles.slice(0, 5)).toEqual(['NAME', 'SYNOPSIS', 'DESCRIPTION', 'OPTIONS', 'COMMANDS']);
    expect(titles.slice(5)).toEqual(['EXAMPLES', 'ENVIRONMENT', 'FILES', 'EXIT STATUS']);
  });
});

const checkers: Readonly<Record<string, readonly string[]>> = {
  man: ['--warnings', '--encoding=UTF-8', '--troff-device=utf8', '--ditroff', '--local-file'],
  mandoc: ['-T', 'lint', '-W', 'warning'],
};

describe.each(Object.entries(checkers))('%s', (checker, options) => {
  const has = spawnSync(checker, ['--version']).error === undefined && (checker !== 'man' || hasGroff());
  let work: string;
  beforeAll(() => {
    work = mkdtempSync(join(tmpdir(), 'pasteflow-man-'));
  });
  afterAll(() => rmSync(work, { recursive: true, force: true }));

  function warnings(text: string): string {
    const copy = join(work, 'copy.1');
    writeFileSync(copy, text);
    const { stdout, stderr } = spawnSync(checker, [...options, copy], { encoding: 'utf8' });
    // The page has no date, which would change without its text.
    return checker === 'man' ? stderr : stdout.replace(/^.*missing date.*\n/m, '');
  }

  (has ? test : test.skip)('warns of nothing in the page, and of a request that there is not', () => {
    expect(warnings(manPage(program))).toBe('');
    expect(warnings(`${manPage(program)}.TYPO\n`)).toContain('TYPO');
  });
});

function hasGroff(): boolean {
  return spawnSync('groff', ['--version']).error === undefined;
}
