// `npm run docs`: draws the state machines of packages/domain into docs/state-machines.md.
// `npm run docs:check` (part of npm test) fails when the page isn't what the tables say.
import { isTerminal, machines, statesOf, transitionsOf, type Machine } from '../packages/domain/src/index.ts';
import { keepGenerated } from './generated-file.ts';

const intro = `# State machines

Generated from the tables in \`packages/domain/src/machines\` by \`npm run docs\`; don't edit it by hand. The same
tables make the TypeScript types, the CHECK constraints and the trigger that refuses any other transition in
Postgres. Keeping a state is no transition and always allowed. How the machines work together is told in
[architecture.md](architecture.md).
`;

const page = [intro, ...machines.map((machine) => section(machine))].join('\n');
await keepGenerated('docs/state-machines.md', page, 'the machine tables');

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
