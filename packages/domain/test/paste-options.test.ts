import { expect, it } from '@jest/globals';
import { defaultOf, optionNames, pasteOptions, storedOptionNames, valuesOf } from '../src/index.ts';

it('takes the options out of a row, with the default of those that are missing', () => {
  const row = { id: '1', short_code: 'q7Zk2Lm9Xa', title: 'Greeting', slug: null, burn: true };
  const values = valuesOf(storedOptionNames, row);
  expect(Object.keys(values)).toEqual(storedOptionNames);
  expect(values).toMatchObject({
    title: 'Greeting',
    syntax: null,
    visibility: 'unlisted',
    encrypted: false,
    burn: true,
    slug: null,
    parent: null,
    supersedes: null,
  });
  expect(valuesOf(['title', 'encrypted'], row)).toEqual({ title: 'Greeting', encrypted: false });
});

it('has a default for each stored option that is one of its values', () => {
  for (const name of storedOptionNames) {
    const option = pasteOptions[name];
    if (option.kind === 'choice') expect(option.values).toContain(defaultOf(name));
    else expect(defaultOf(name)).toBe(option.kind === 'flag' ? false : null);
  }
});

/** A new option behind them is left out of a fingerprint when it has its default. */
it('writes the options of 0.1.0, and no others, always and first into a fingerprint', () => {
  const isWritten = optionNames.map((name) => 'isAlwaysWritten' in pasteOptions[name]);
  expect(optionNames.slice(0, 4)).toEqual(['title', 'syntax', 'expires_in', 'visibility']);
  expect(isWritten).toEqual(optionNames.map((_, place) => place < 4));
});
