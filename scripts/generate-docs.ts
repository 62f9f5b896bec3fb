// Writes docs/state-machines.md: the tables of packages/domain, and the file that makes each transition.
// With --check: fails when the page is out of date.
import { globSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isTerminal, machines, statesOf, transitionsOf, type Machine } from '../packages/domain/src/index.ts';
import { keepGenerated } from './generated-file.ts';
import { findTransitionSources } from './transition-sources.ts';

const intro = `# State machines

\`npm run docs\` generates this page from \`packages/domain/src/machines.ts\` and the calls of \`transition()\`: don't
edit it by hand. An update that keeps the state is no transition and always allowed.
`;

const root = fileURLToPath(new URL('..', import.meta.url));
const files = globSync('{packages,services}/*/src/**/*.ts', {
  cwd: root,
  exclude: ['packages/domain/**'], // defines transition()
});
const sources = findTransitionSources(machines, { root, files });
const page = [intro, ...machines.map((machine) => section(machine))].join('\n');
keepGenerated('docs/state-machines.md', page, 'the machine tables and the calls of transition()');

function section(machine: Machine): string {
  const states = statesOf(machine);
  const meanings = states.map((state) => `- \`${state}\`: ${machine.states[state]?.meaning ?? ''}`);
  return [
    `## ${machine.name}`,
    `Stored in \`${machine.storedIn.table}.${machine.storedIn.column}\`.`,
    ['```mermaid', ...diagram(machine), '```'].join('\n'),
    meanings.join('\n'),
    'The statements of the transitions:',
    arrows(machine).join('\n'),
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

/** A line for each arrow, with the files whose statements make the transition. */
function arrows(machine: Machine): string[] {
  return transitionsOf(machine).map(([from, to]) => {
    const files = sources.get(machine.name)?.get(`${from} → ${to}`) ?? [];
    const links = files.map((file) => `[${basename(file)}](../${file})`);
    return `- \`${from}\` → \`${to}\`: ${links.join(', ')}`;
  });
}
