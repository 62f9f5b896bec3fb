import { describe, expect, it } from '@jest/globals';
import { findUnknownSettings } from '../src/config/unknown-settings.ts';

const names = {
  current: ['ANONYMOUS_PASTES', 'API_PORT', 'AWS_ENDPOINT_URL_SQS', 'DATABASE_URL', 'MAX_STORED_BYTES'],
  retired: { MAX_STORED_BYTE: 'has no effect: write MAX_STORED_BYTES' },
};
const find = (env: Record<string, string>) => findUnknownSettings(env, names);

describe('the names in the environment', () => {
  it.each([
    ['ANONYMOUS_PASTS', 'ANONYMOUS_PASTES'],
    ['ANONYMUOS_PASTES', 'ANONYMOUS_PASTES'],
    ['ANONYMOUSPASTES', 'ANONYMOUS_PASTES'],
    ['anonymous-pastes', 'ANONYMOUS_PASTES'],
    ['DATABASE_URI', 'DATABASE_URL'],
    ['API_POTR', 'API_PORT'],
    ['aws_endpoint_url_sqs', 'AWS_ENDPOINT_URL_SQS'],
  ])('%s is refused with the name that was meant', (given, meant) => {
    expect(find({ [given]: 'deny' })).toEqual({
      problems: [expect.stringMatching(`^${given} has no effect: .*write ${meant}`)],
      ignored: [],
      retired: [],
    });
  });

  it('a word `export` and a byte order mark are refused in front of a setting, misspelt or not', () => {
    expect(
      find({
        'export ANONYMOUS_PASTES': 'deny',
        '\uFEFFAPI_PORT': '1',
        '\uFEFFexport DATABASE_URI': 'x',
        'export EDITOR': 'vi',
        '\uFEFF# a comment': 'x',
      }),
    ).toEqual({
      problems: [
        'ANONYMOUS_PASTES has no effect behind the word export; remove that word',
        expect.stringMatching('^API_PORT has no effect: its file begins with a byte order mark'),
        expect.stringMatching('^DATABASE_URL has no effect: its file begins with a byte order mark'),
      ],
      ignored: [],
      retired: [],
    });
  });

  it('of others, those that begin like ours are named: of newer releases, those of Kubernetes, and retired ones with what to write instead', () => {
    const env = {
      API_PORT_80_TCP: 'tcp://10.0.0.1:80',
      API_COLOUR: 'red',
      MAX_STORED_BYTE: '5',
      ANONYMOUS_PASTES: 'deny',
      PATH: '/bin',
      KUBERNETES_SERVICE_HOST: '10.0.0.1',
    };
    expect(find(env)).toEqual({
      problems: [],
      ignored: ['API_COLOUR', 'API_PORT_80_TCP'],
      retired: ['MAX_STORED_BYTE has no effect: write MAX_STORED_BYTES'],
    });
  });

  it('names of other programs are none of ours, nor is one beside the right name or without a value', () => {
    expect(
      find({ APP_PORT: '1', AWS_ENDPOINT_URL_SNS: 'http://a', AWS_PROFILE: 'a', DATABASE_URI: ' ' }),
    ).toEqual({
      problems: [],
      ignored: [],
      retired: [],
    });
    expect(find({ DATABASE_URI: 'a', DATABASE_URL: 'b' })).toEqual({
      problems: [],
      ignored: ['DATABASE_URI'],
      retired: [],
    });
  });
});
