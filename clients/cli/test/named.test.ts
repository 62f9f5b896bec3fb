import { describe, expect, it } from '@jest/globals';
import { keyIn } from '../src/sealed/open-content.ts';
import { jobNamedBy, pasteNamedBy } from '../src/settings/named.ts';

const SERVER = 'https://paste.example.org';
const CODE = 'q7Zk2Lm9Xa';
const JOB = '0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b';

describe('the paste that an argument names', () => {
  it.each([
    CODE,
    `${CODE}/`,
    `${CODE}.ts`,
    `${SERVER}/${CODE}`,
    `${SERVER}/${CODE}/`,
    `${SERVER}/${CODE}.ts#L2-L3`,
    `${SERVER}/${CODE}#L2-L3`,
    `${SERVER}/${CODE}/timeline`,
    `${SERVER}/v1/pastes/${CODE}`,
    `${SERVER}/v1/pastes/${CODE}/content`,
    `${SERVER}/?${CODE}`,
    `${SERVER}/?pasteid=${CODE}`,
    `HTTPS://Paste.Example.ORG:443/${CODE}`,
  ])('is found in %s', (argument) => {
    expect(pasteNamedBy(argument, SERVER)).toBe(CODE);
  });

  it('is found behind the path of a server that has one', () => {
    expect(pasteNamedBy(`${SERVER}/tools/paste/${CODE}`, `${SERVER}/tools/paste`)).toBe(CODE);
    expect(pasteNamedBy(`${SERVER}/tools/paste/?${CODE}`, `${SERVER}/tools/paste`)).toBe(CODE);
  });

  it('can be a slug', () => {
    expect(pasteNamedBy(`${SERVER}/~a-name/`, SERVER)).toBe('~a-name');
    expect(pasteNamedBy(`${SERVER}/%7Ea-name`, SERVER)).toBe('~a-name');
  });

  it.each([
    `https://paste.example.org.evil.test/${CODE}`,
    `http://paste.example.org/${CODE}`,
    `https://paste.example.org:8443/${CODE}`,
    'https://[',
  ])('belongs to another server in %s', (argument) => {
    expect(() => pasteNamedBy(argument, SERVER)).toThrow('belongs to another server');
  });

  it.each([SERVER, `${SERVER}/`, `${SERVER}/?`, '', '#L2', 'a b'])('is not found in %j', (argument) => {
    expect(() => pasteNamedBy(argument, SERVER)).toThrow('is neither a short code');
  });
});

describe('the job that an argument names', () => {
  it.each([
    JOB,
    JOB.toUpperCase(),
    `${SERVER}/v1/jobs/${JOB}`,
    `${SERVER}/v1/jobs/${JOB}/assets`,
    `${SERVER}/my/jobs/${JOB}`,
  ])('is found in %s', (argument) => {
    expect(jobNamedBy(argument, SERVER)).toBe(JOB);
  });
});

describe('the key that an argument has', () => {
  it('is not taken from the selected lines of a page', () => {
    expect(keyIn(`${SERVER}/${CODE}#L2-L3`)).toBeNull();
    expect(keyIn(`${SERVER}/${CODE}#L12`)).toBeNull();
  });

  it('is read after the short code of a PrivateBin address', () => {
    const key = '4XCDHcJ8CfFv7UmNCwtLBYzbDr8VPsS6NbrNzv7wBwNW';
    expect(keyIn(`${SERVER}/?${CODE}#${key}`)).toEqual(keyIn(`#${key}`));
    expect(keyIn(`${SERVER}/?${CODE}#${key}`)).not.toBeNull();
  });
});
