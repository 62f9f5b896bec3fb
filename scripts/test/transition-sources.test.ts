import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineMachine } from '../../packages/domain/src/index.ts';
import { findTransitionSources } from '../transition-sources.ts';

const lamp = defineMachine({
  name: 'desk_lamp',
  storedIn: {
    table: 'lamps',
    column: 'status',
    identityColumns: ['id'],
    reasonColumn: null,
  },
  initial: 'off',
  states: { off: { meaning: 'dark', to: ['on'] }, on: { meaning: 'lit', to: ['off'] } },
});

const both = `
  const light = transition(deskLamp, 'off', 'on');
  const darken = transition(
    deskLamp,
    'on',
    'off',
  );`;

let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'pasteflow-transitions-'));
});

afterEach(() => rmSync(root, { recursive: true }));

function sourcesOf(files: Record<string, string>) {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(root, name), text);
  return findTransitionSources([lamp], { root, files: Object.keys(files) });
}

describe('the files that make a transition', () => {
  it('are all files that name it, each once', () => {
    const found = sourcesOf({ 'b.ts': both, 'a.ts': `transition(deskLamp, 'off', 'on');`.repeat(2) });
    expect(found.get('desk_lamp')).toEqual(
      new Map([
        ['off → on', ['a.ts', 'b.ts']],
        ['on → off', ['b.ts']],
      ]),
    );
  });

  it('are required: a transition that no file names is an error', () => {
    expect(() => sourcesOf({ 'a.ts': `transition(deskLamp, 'off', 'on')` })).toThrow('desk_lamp on → off');
  });

  it('name machine and states literally', () => {
    expect(() => sourcesOf({ 'a.ts': both, 'b.ts': `transition(lamp, from, 'on')` })).toThrow('b.ts');
  });

  it('name only what is in a table', () => {
    expect(() => sourcesOf({ 'a.ts': both, 'b.ts': `transition(deskLamp, 'on', 'broken')` })).toThrow(
      'b.ts: no table has deskLamp on → broken',
    );
  });
});
