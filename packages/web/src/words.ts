/**
 * Every text of the pages, so that a translation replaces one file. The texts of errors come from the API's
 * problem details.
 */
export const words = {
  product: 'Pasteflow',
  skipToContent: 'Skip to the content',
  newPaste: 'New paste',
  documentation: 'API documentation',
  footer: 'Pasteflow stores text and answers with a short link to the text.',
  reportAbuse: 'Report abuse',

  form: {
    title: 'New paste',
    content: 'Text',
    contentHint:
      'Paste or type text here, or drop a file. Ctrl+Enter creates the paste. Press Esc and then Tab to leave this field.',
    file: 'Or a file',
    pasteTitle: 'Title (optional)',
    syntax: 'Language',
    detectSyntax: 'Detect by the title or the first line',
    expiry: 'Expires after',
    expiries: [
      ['3600', '1 hour'],
      ['86400', '1 day'],
      ['604800', '1 week'],
      ['2592000', '30 days'],
      ['31536000', '1 year'],
      ['never', 'Never'],
    ],
    submit: 'Create paste',
    privacy: 'Anyone who has the link can read the paste.',
    visibility: 'Who can read it',
    visibilities: [
      ['unlisted', 'Anyone who has the link'],
      ['private', 'Only you'],
    ],
    unreachable: 'The server did not answer. Your text is still here: try again.',
  },

  created: {
    title: 'Paste created',
    link: 'Link to the paste',
    deleteToken: 'Delete token',
    deleteTokenHint: 'Keep this token: it is shown only now, and only this token can delete the paste.',
    open: 'Open the paste',
    copy: 'Copy',
    copied: 'Copied',
  },

  paste: {
    untitled: 'Untitled paste',
    size: 'Size',
    language: 'Language',
    created: 'Created',
    expires: 'Expires',
    neverExpires: 'never',
    upload: 'Upload',
    uploadStates: { IN_PROGRESS: 'in progress', PROCESSED: 'stored', FAILED: 'failed' },
    timeline: 'Timeline',
    raw: 'Raw',
    download: 'Download',
    copy: 'Copy text',
    copied: 'Copied',
    copyFailed: 'The browser did not allow the copy.',
    wrap: 'Wrap lines',
    qr: 'QR code',
    qrOf: (url: string) => `QR code of ${url}`,
    fork: 'New from this',
    content: 'Content of the paste',
    inProgress: 'The upload of this paste is in progress. The page shows the text as soon as it is stored.',
    notUtf8:
      'Some bytes of this paste are not UTF-8 text and are shown as �. The download has the exact bytes.',
    bidi: 'This text has characters that change the direction of writing. The order that you see can differ from the order that a program reads.',
    longLines: (characters: string) =>
      `Lines of more than ${characters} characters are folded on this page. The download has the exact text.`,
    cut: (lines: string) => `The page shows the first ${lines} lines. The download has the whole text.`,
    deleteTitle: 'Delete this paste',
    deleteHint: 'The delete token was shown when the paste was created.',
    deleteToken: 'Delete token',
    deleteOwnHint: 'The paste is yours. A deleted paste cannot be restored.',
    deleteButton: 'Delete permanently',
    deleted: 'Paste deleted',
    deletedText: 'The paste is deleted and cannot be restored.',
  },

  timeline: {
    title: (paste: string) => `Timeline of ${paste}`,
    back: 'Back to the paste',
    intro: 'Every state of this paste and every attempt at its upload, as the database recorded them.',
    chart: 'States and attempts over time',
    paste: 'Paste',
    attempt: (number: number) => `Attempt ${number}`,
    transitions: 'Transitions',
    attempts: 'Attempts',
    from: 'From',
    to: 'To',
    at: 'Time (UTC)',
    after: 'After',
    by: 'By',
    reason: 'Reason',
    subject: 'Subject',
    state: 'State',
    due: 'Due',
    started: 'Started',
    finished: 'Finished',
    error: 'Error',
    waiting: 'waiting',
    running: 'running',
    machines: { paste_upload: 'upload', paste_deletion: 'deletion', task_execution: 'attempt' } as Readonly<
      Record<string, string>
    >,
    none: 'There are no transitions yet.',
  },

  signIn: {
    title: 'Sign in',
    link: 'Sign in',
    signedInAs: 'Signed in as',
    signOut: 'Sign out',
    intro: 'With a token you see your own pastes and jobs, and the pastes that you create here are yours.',
    token: 'API token',
    tokenHint:
      'The operator of this service makes tokens. The browser keeps the token until you sign out or close the browser.',
    submit: 'Sign in',
    without: 'Continue without signing in',
  },

  problem: {
    back: 'Create a new paste',
    signIn: 'Sign in, if it is a private paste of yours',
    requestId: 'Request id',
  },

  bytes: (count: number) => `${count} ${count === 1 ? 'byte' : 'bytes'}`,
} as const;
