import { describe, expect, it } from '@jest/globals';
import { languageNamed, languageOf, languages, namesOfLanguage, nearestLanguage } from '../src/index.ts';

const of = (syntax: string | null, title: string | null, text = '') =>
  languageOf({ syntax, title }, text)?.id ?? null;

describe('the language of a paste', () => {
  it('is its syntax before anything else', () => {
    expect(of('rust', 'main.py', '#!/bin/sh')).toBe('rust');
    expect(of('  TypeScript ', null)).toBe('typescript');
    expect(of('c++', null)).toBe('cpp');
    expect(of('klingon', 'main.py')).toBeNull();
  });

  it('is that of the extension of its title', () => {
    expect(of(null, 'src/main.RS')).toBe('rust');
    expect(of(null, 'Dockerfile')).toBe('dockerfile');
    expect(of(null, 'Meeting notes')).toBeNull();
  });

  it('is that of its first line when the title names none', () => {
    expect(of(null, null, '#!/usr/bin/env -S python3 -u\nprint(1)')).toBe('python');
    expect(of(null, null, '#!/bin/bash')).toBe('shell');
    expect(of(null, null, '<?xml version="1.0"?>')).toBe('xml');
    expect(of(null, null, '<!DOCTYPE html>')).toBe('html');
    expect(of(null, null, 'diff --git a/x b/x')).toBe('diff');
    expect(of(null, null, 'Hello')).toBeNull();
  });

  it.each([
    ['#!/usr/bin/python3.11', 'python'],
    ['#!/usr/bin/env -S FOO=1 ruby -w', 'ruby'],
    ['#!/usr/bin/env FOO=a/b ruby', 'ruby'],
    ['#!/usr/bin/env -S node --no-warnings', 'javascript'],
    ['#!/usr/local/bin/lua5.4', 'lua'],
    ['#!/opt/pypy3.10', 'python'],
    ['#! /usr/bin/perl5.36.0', 'perl'],
    ['#!/usr/bin/env', null],
  ])('is that of the program in the shebang %s: %s', (line, language) => {
    expect(of(null, null, `${line}\n`)).toBe(language);
  });

  it('is that of the first line after a byte order mark', () => {
    expect(of(null, null, '\ufeff#!/bin/sh\n')).toBe('shell');
    expect(of(null, null, '\ufeff<?xml version="1.0"?>')).toBe('xml');
    expect(of(null, null, '\ufeff<!DOCTYPE html>')).toBe('html');
  });
});

describe('the language of a file', () => {
  it.each([
    ['nginx.conf', 'nginx'],
    ['/etc/app.conf', 'ini'],
    ['Gemfile', 'ruby'],
    ['.bashrc', 'shell'],
    ['home/.zshrc', 'shell'],
    ['Dockerfile.dev', 'dockerfile'],
    ['Dockerfile.md', 'markdown'],
    ['.env.local', 'ini'],
    ['analysis.ipynb', 'json'],
    ['Cargo.lock', 'toml'],
    ['Pipfile.lock', 'json'],
    ['nginx.conf.bak', null],
    ['Makefile', null],
  ])('is for %s: %s', (title, language) => {
    expect(of(null, title)).toBe(language);
  });

  it('is accepted by the pattern of its language alone, by which lists are filtered', () => {
    const endings = ['', '.dev', '.lock', '.md', '.dev.rb', '.bak'];
    const files = languages
      .flatMap(({ extensions, fileNames = [] }) => [
        ...extensions.map((each) => `a.${each}`),
        ...extensions,
        ...fileNames,
      ])
      .flatMap((name) => endings.map((ending) => `${name}${ending}`));
    for (const { id } of languages) {
      const pattern = new RegExp(namesOfLanguage(id).filePattern ?? '');
      const accepted = files.filter((file) => pattern.test(file));
      expect(accepted).toEqual(files.filter((file) => of(null, file) === id));
    }
  });
});

describe('a unified diff', () => {
  it('is known by the heads of its two files', () => {
    const patch = '--- a/x\t2026-11-27\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n';
    expect(of(null, null, patch)).toBe('diff');
    expect(of(null, null, patch.replaceAll('\n', '\r\n'))).toBe('diff');
    expect(of(null, null, '--- a\ntitle: front matter\n')).toBeNull();
  });
});

describe('the syntax of a paste', () => {
  it('is a name or an extension of a language, in any case', () => {
    expect(['Rust', 'rs', ' C# ', 'ipynb'].map((name) => languageNamed(name)?.id)).toEqual([
      'rust',
      'rust',
      'csharp',
      'json',
    ]);
    expect(languageNamed('klingon')).toBeNull();
  });

  it.each([
    ['pyton', 'python'],
    ['javasrcipt', 'javascript'],
    ['golan', 'go'],
    ['kling on!', null],
    ['xx', null],
    ['x'.repeat(1_000_000), null],
  ])('has a nearest language only when few letters differ', (name, nearest) => {
    expect(nearestLanguage(name)).toBe(nearest);
  });
});

describe('the list of languages', () => {
  it('uses each name, file name and program for one language', () => {
    const lists = languages.map(({ id, aliases = [], extensions, fileNames = [], programs = [] }) => [
      [...new Set([id, ...aliases, ...extensions])],
      fileNames,
      programs,
    ]);
    for (const kind of [0, 1, 2]) {
      const names = lists.flatMap((list) => list[kind] ?? []);
      expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
    }
  });
});
