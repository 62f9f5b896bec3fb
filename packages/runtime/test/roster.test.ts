import { execFileSync } from 'node:child_process';
import { describe, expect, it } from '@jest/globals';
import { KeyedRoster, Roster } from '../src/index.ts';

describe('a roster', () => {
  it('has the members that were added and not removed', () => {
    const roster = new Roster<{ name: string }>();
    const [first, second, third] = [{ name: 'first' }, { name: 'second' }, { name: 'third' }];
    const removeFirst = roster.add(first);
    roster.add(second);
    removeFirst();
    expect([roster.size, ...roster]).toEqual([1, second]);
    roster.add(third);
    removeFirst(); // its slot is that of the third by now
    expect(roster.size).toBe(2);
    expect(new Set(roster)).toEqual(new Set([second, third]));
  });

  it('may lose and get members while it is read', () => {
    const roster = new Roster<{ remove?: () => void }>();
    const members: { remove?: () => void }[] = [{}, {}, {}];
    for (const member of members) member.remove = roster.add(member);
    const read = [];
    for (const member of roster) {
      read.push(member);
      for (const each of members) each.remove!();
    }
    expect(read).toEqual([members[0]]);
    expect(roster.size).toBe(0);
  });
});

describe('a roster with keys', () => {
  it('has the last member of each key that was not deleted', () => {
    const roster = new KeyedRoster<string>();
    roster.set('a', 'first');
    roster.set('b', 'second');
    roster.set('a', 'third');
    expect([roster.size, roster.get('a'), roster.get('b'), roster.get('c')]).toEqual([
      2,
      'third',
      'second',
      undefined,
    ]);
    roster.delete('a');
    roster.delete('a');
    roster.set('c', 'fourth');
    roster.set('d', 'fifth');
    expect([...roster.keys()]).toEqual(['b', 'c', 'd']);
    expect(['a', 'b', 'c', 'd'].map((key) => roster.get(key))).toEqual([
      undefined,
      'second',
      'fourth',
      'fifth',
    ]);
  });
});

const script = new URL('fixtures/churn.ts', import.meta.url).pathname;
/** The old generation is too large to be collected before the end. */
const flags = ['--expose-gc', '--initial-old-space-size=1024', '--conditions=source'];
const grownBytes = (collection: string): number =>
  Number(execFileSync(process.execPath, [...flags, script, collection], { encoding: 'utf8' }));

it.each(['roster', 'keyed', 'groups'])(
  'what has left is freed with the young generation, which a Set prevents: %s',
  (collection) => {
    const ofASet = grownBytes('set');
    expect(ofASet).toBeGreaterThan(10_000_000);
    expect(grownBytes(collection)).toBeLessThan(ofASet / 10);
  },
);
