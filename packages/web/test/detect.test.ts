import { expect, it } from '@jest/globals';
import { detected } from '../browser/form/detect.ts';

it.each([
  ['an ending of the title', ['main.rs'], '{}', 'rust'],
  ['an ending of the file, when the title has none', ['mine', 'main.rs'], '', 'rust'],
  ['a shebang', [''], '#!/usr/bin/env python3\n', 'python'],
  ['a patch of git', [''], 'diff --git a/x b/x\n', 'diff'],
  ['a patch', [''], '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n', 'diff'],
  ['an object of JSON', [''], ' {"a": [1]}\n', 'json'],
  ['an array of JSON', [''], '[]', 'json'],
  ['JSON that does not end', [''], '{"a": ', undefined],
  ['a block of code', [''], '{ a: 1 }', undefined],
  ['a number', [''], '42', undefined],
  ['YAML', [''], '--- a\nb: 1\n', undefined],
  ['JSON that is too long to be parsed while somebody types', [''], `[${' '.repeat(1_000_000)}]`, undefined],
])('detects only what is certain: %s', (_name, names, text, id) => {
  expect(detected({ names, text })?.id).toBe(id);
});
