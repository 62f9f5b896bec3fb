// `npm run docs`: draws the state machines of packages/domain into docs/state-machines.md.
// `npm run docs:check` (part of npm test) fails when the page isn't what the tables say.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';
import { isTerminal, machines, statesOf, transitionsOf, type Machine } from '../packages/domain/src/index.ts';

const page = join(fileURLToPath(new URL('..', import.meta.url)), 'docs/state-machines.md');

const intro = `# State machines

Generated from the tables in \`packages/domain/src/machines\` by \`npm run docs\`; don't edit it by hand. The same
tables make the TypeScript types, the CHECK constraints and the trigger that refuses any other transition in
Postgres. Keeping a state is no transition and always allowed. How the machines work together is told in
[architecture.md](architecture.md).
`;

const wanted = await format([intro, ...machines.map((machine) => section(machine))].join('\n'), {
  ...(await resolveConfig(page)),
  parser: 'markdown',
});

if (!process.argv.includes('--check')) {
  mkdirSync(join(page, '..'), { recursive: true });
  writeFileSync(page, wanted);
} else if (!existsSync(page) || readFileSync(page, 'utf8') !== wanted) {
  console.error('docs/state-machines.md differs from the machine tables: run `npm run docs` and commit it');
  process.exitCode = 1;
}

function section(machine: Machine): string {
  const states = statesOf(machine);
  const rows = states.map((state) => {
    const { meaning, to } = machine.states[state] ?? { meaning: '', to: [] };
    return `| \`${state}\` | ${meaning} | ${to.map((next) => `\`${next}\``).join(', ') || '—'} |`;
  });
  return [
    `## ${machine.name}`,
    `Stored in \`${machine.storedIn.table}.${machine.storedIn.column}\`.`,
    ['```mermaid', ...diagram(machine), '```'].join('\n'),
    ['| state | means | moves on to |', '| --- | --- | --- |', ...rows].join('\n'),
    '',
  ].join('\n\n');
}

function diagram(machine: Machine): string[] {
  const ends = statesOf(machine).filter((state) => isTerminal(machine, state));
  return [
    'stateDiagram-v2',
    `  [*] --> ${machine.initial}`,
    ...transitionsOf(machine).map(([from, to]) => `  ${from} --> ${to}`),
    ...ends.map((state) => `  ${state} --> [*]`),
  ];
}
