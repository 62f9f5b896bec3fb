import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { isForeign, isOwn, ownPath } from '../src/index.ts';

const OWN = 'https://paste.example.org';
const isOwnOrigin = (origin: string) => origin === OWN;

function sent(method: string, site?: string, origin?: string): IncomingMessage {
  const headers = { ...(site && { 'sec-fetch-site': site }), ...(origin && { origin }) };
  return { method, headers } as unknown as IncomingMessage;
}

describe('whose page sent a request', () => {
  it.each([
    ['a page of the service', 'same-origin', OWN, false],
    ['the address bar', 'none', undefined, false],
    ['a page of another site', 'cross-site', 'https://evil.example', true],
    ['another host of the same site', 'same-site', 'https://other.example.org', true],
    ['another site that hides its origin', 'same-origin', 'null', true],
    ['an old browser on another site', undefined, 'https://evil.example', true],
    ['an old browser on a page of the service', undefined, OWN, false],
    ['a program', undefined, undefined, false],
  ])('%s is foreign or not', (_who, site, origin, foreign) => {
    expect(isForeign(sent('POST', site, origin), isOwnOrigin)).toBe(foreign);
  });

  it.each([
    ['GET', 'same-origin', undefined, true],
    ['GET', 'none', undefined, true],
    ['GET', 'cross-site', undefined, false],
    ['GET', undefined, undefined, false],
    ['POST', 'same-origin', OWN, true],
    ['POST', 'same-origin', undefined, false],
    ['POST', 'same-origin', 'https://evil.example', false],
    ['POST', undefined, OWN, false],
  ])(
    'a %s with the site %s and the origin %s is its own: only what the browser says',
    (method, site, origin, own) => {
      expect(isOwn(sent(method, site, origin), isOwnOrigin)).toBe(own);
    },
  );
});

describe('a path to go to after signing in', () => {
  it.each([
    ['/my/pastes?limit=2', '/my/pastes?limit=2'],
    ['//evil.example/', '/'],
    ['https:evil.example', '/'],
    ['/\\evil.example', '/'],
    ['/a/../..//evil.example', '/'],
    [null, '/'],
    [`/${'a'.repeat(2000)}`, '/'],
  ])('%j leads to %s', (text, path) => {
    expect(ownPath(text, '', '/')).toBe(path);
  });
});
