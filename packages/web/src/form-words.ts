/** The texts of the form for a new paste: a part of `words`. */
export const formWords = {
  title: 'New paste',
  content: 'Text',
  placeholder: 'Paste or type text here.',
  contentHint:
    'Ctrl+Enter creates the paste. Tab indents; Esc and then Tab leaves the text. A file can be dropped anywhere.',
  file: 'Or a file',
  atMost: (size: string) => `At most ${size}.`,
  pasteTitle: 'Title (optional)',
  syntax: 'Language',
  detectSyntax: 'Detect automatically',
  detectedSyntax: 'Detected: {name}',
  expiry: 'Expires after',
  expiries: [
    ['3600', '1 hour'],
    ['86400', '1 day'],
    ['604800', '1 week'],
    ['2592000', '30 days'],
    ['31536000', '1 year'],
    ['never', 'Never'],
  ],
  slug: 'Name in the link (optional)',
  slugHint:
    '3 to 64 lower-case letters, digits and hyphens, with no hyphen at an end: the link then ends with ~name.',
  slugRefused: (reason: string) => `This name ${reason}.`,
  removeFile: 'Remove the file',
  both: 'The form has a text and a file, but a paste is one of them. Delete the text, or remove the file.',
  bothWithoutScript:
    'The form had a text and a file, but a paste is one of them. This is the text: create the paste, or delete the text and choose the file again.',
  several:
    'These are {count} files, but a paste is one file. The form took none of them: choose one, or an archive with all of them.',
  fileAgain: 'If you have chosen a file, choose it again.',
  more: 'More options',
  submit: 'Create paste',
  privacy: 'Anyone who has the link can read the paste.',
  visibility: 'Who can read it',
  visibilities: [
    ['unlisted', 'Anyone who has the link'],
    ['private', 'Only you'],
  ],
  empty: 'Enter a text, or choose a file.',
  unreachable: 'The server did not answer. Your text is still here: try again.',
} as const;
