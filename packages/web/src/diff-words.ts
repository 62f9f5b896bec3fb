/** The texts about a paste that is made from another one, and about what has changed: a part of `words`. */
export const diffWords = {
  madeFrom: 'Made from',
  madeFromHint:
    'Readers of the new paste see this code. They can open that paste, if they may read it, and see what you have changed.',
  parentMissing:
    'You can no longer read the paste that you started from. The form below does not name that paste any more: create the new paste again.',
  notText: 'That paste is not text, so that its content is not filled in.',
  tooLong: (size: string) => `That paste has more than ${size}. Its text is filled in by JavaScript only.`,
  notFilled: 'The text of that paste could not be loaded. Reload the page to try again.',
  title: (paste: string) => `Changes of ${paste}`,
  heading: 'Changes of',
  from: 'From',
  to: 'To',
  rawOf: (code: string) => `Raw text of ${code}`,
  lines: 'Lines',
  counts: (added: number, removed: number) => `+${added} added, -${removed} removed`,
  hunk: (oldNumber: number, newNumber: number) =>
    `Changes from line ${oldNumber} of the old text and line ${newNumber} of the new text`,
  groups: { removed: 'Removed', added: 'Added' },
  noNewline: 'No newline at the end',
  equal: 'The texts are equal.',
  lineEnds:
    'The texts have different line ends (CR LF in one, LF in the other). Lines that differ only in this are shown as equal.',
  notUtf8: 'Some bytes of these texts are not UTF-8 and are shown as �. The patch has the exact bytes.',
  command: 'The changes as a patch, with the exact bytes:',
} as const;
