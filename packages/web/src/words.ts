import { diffWords } from './diff-words.ts';
import { formWords } from './form-words.ts';
import { jobWords, myJobsWords, myPastesWords } from './list-words.ts';
import { reportWords } from './report-words.ts';
import { myAccountWords, mySessionsWords, myTokensWords, signInWords } from './sign-in-words.ts';

/** Every text of the pages. The texts of errors come from the API's problem details. */
export const words = {
  product: 'Pasteflow',
  skipToContent: 'Skip to the content',
  navigation: 'Pages',
  newPaste: 'New paste',
  newPasteShort: 'New',
  newPasteRest: ' paste',
  documentation: 'API',
  list: { filter: 'Filter', pages: 'Pages of the list', newest: 'Newest', older: 'Older →' },
  footer: 'Pasteflow stores text and answers with a short link to the text.',
  reportAbuse: 'Report abuse',

  themes: {
    auto: 'Colours: as the system',
    light: 'Colours: light',
    dark: 'Colours: dark',
  },
  keys: {
    title: 'Keyboard shortcuts',
    option: 'Use these keys',
    close: 'Close',
  },

  form: formWords,

  created: {
    title: 'Paste created',
    link: 'Link to the paste',
    deleteToken: 'Delete token',
    deleteTokenHint: 'Whoever has this token can delete the paste. It is shown only here.',
    deletion: 'Delete token',
    kept: 'This browser keeps the delete tokens of your pastes, so that their pages can delete them. On a shared computer:',
    forget: 'Forget all tokens',
    forgotten: 'The tokens are forgotten. Copy this one to keep it.',
    readers: { unlisted: 'anyone who has the link can read it', private: 'only you can read it' },
    readOnce: 'the first reader deletes it',
    open: 'Open the paste',
    another: 'Create another',
    copy: 'Copy',
    copyLink: 'Copy link',
    copied: 'Copied',
    notCopied: 'Failed',
    keyHint:
      'The key is a part of the link, and only this page knows it: without the whole link nobody can read the paste.',
  },

  paste: {
    untitled: 'Untitled paste',
    badges: { private: 'Private', burn: 'Read once', encrypted: 'Encrypted' },
    size: 'Size',
    language: 'Language',
    created: 'Created',
    expires: 'Expires',
    expiresLine: 'expires',
    neverExpires: 'never',
    neverExpiresLine: 'never expires',
    upload: 'Upload',
    uploadStates: { IN_PROGRESS: 'in progress', PROCESSED: 'stored', FAILED: 'failed' },
    timeline: 'Timeline',
    raw: 'Raw',
    download: 'Download',
    copy: 'Copy text',
    copied: 'Copied',
    copyFailed: 'Not copied',
    copyLink: 'Copy link',
    more: 'More',
    show: 'Show',
    wrap: 'Wrap',
    qr: 'QR code',
    qrOf: (url: string) => `QR code of ${url}`,
    fork: 'New from this',
    changes: 'changes',
    lines: 'Select lines',
    linesWrong: 'Write a line, such as 12, or lines, such as 12-20.',
    lineSelected: 'Line {first} is selected.',
    linesSelected: 'Lines {first} to {last} are selected.',
    lineMissing: 'The page does not have all lines from {first} to {last}.',
    views: 'View',
    source: 'Source',
    rendered: 'Rendered',
    rendering: 'The text is being rendered …',
    notRendered: 'This text is too complex to be rendered. The page shows its source.',
    needsScript: 'Rendered with JavaScript only',
    sourceOnly: (size: string) => `Markdown of more than ${size} is shown as source.`,
    image: 'Image',
    imageOf: (format: string) => `${format} image`,
    imageAlt: (paste: string) => `The image ${paste}`,
    openImage: 'Open the image',
    binary: 'Binary file',
    binaryHint: 'This content is no text, so that the page does not show it.',
    content: 'Content of the paste',
    inProgress: 'The upload of this paste is in progress. The page shows the text as soon as it is stored.',
    notUtf8: 'Some bytes of this paste are not UTF-8 and are shown as �. The download has the exact bytes.',
    bidi: 'This text has characters that change the direction of writing. The order that you see can differ from the order that a program reads.',
    longLines: (characters: string) =>
      `Lines of more than ${characters} characters are folded on this page. The download has the exact text.`,
    cut: (lines: string) => `The page shows the first ${lines} lines. The download has the whole text.`,
    deleteTitle: 'Delete this paste',
    deleteMenu: 'Delete',
    deleteHint: 'The delete token was shown when the paste was created.',
    deleteToken: 'Delete token',
    deleteOwnHint: 'The paste is yours. A deleted paste cannot be restored.',
    deleteButton: 'Delete permanently',
    deleted: 'Paste deleted',
    deletedText: 'The paste is deleted and cannot be restored.',
  },

  diff: diffWords,

  report: reportWords,

  history: {
    title: (name: string) => `Versions of ${name}`,
    intro: 'Newest first. Versions that have ended, or that you cannot read, are not listed.',
    version: (number: number) => `Version ${number}`,
    versionOf: (number: number, newest: number) => `Version ${number} of ${newest}`,
    older: (slug: string) => `~${slug} shows an older version of this paste.`,
    move: (slug: string) => `Move ~${slug} to this version`,
  },

  burn: {
    option: 'Delete the paste when it is read',
    optionHint:
      'The link shows a button. Whoever presses it first reads the text, and nobody reads it again.',
    explanation:
      'This paste can be read once. When you reveal the text, the paste is deleted, and nobody else can read it.',
    file: 'The browser saves a file that is neither text nor an image; if it does not arrive, press the button again.',
    reload:
      'If a text does not arrive, reload at once. Both work for five minutes. Do not open the link again.',
    reveal: 'Reveal the text and delete the paste',
    command: 'On a command line:',
    revealed:
      'The paste is deleted: copy or download what you need. If the end is missing, reload this page at once; that works for five minutes.',
    revealedImage:
      'The paste is deleted: save the image. The download, and a reload of this page, work for five minutes.',
  },

  encryption: {
    option: 'Encrypt in this browser',
    password: 'Password (optional)',
    passwordHint: 'Readers then need the link and the password. Send them the password in another way.',
    failed: 'The browser could not encrypt the paste.',
  },

  encrypted: {
    title: 'Encrypted paste',
    needsScript:
      'This paste is encrypted, and a browser needs JavaScript to decrypt it. Switch JavaScript on and reload the page.',
    password: 'Password',
    decrypt: 'Decrypt',
    qr: 'QR code of the link with its key',
    document: 'Encrypted document',
    explanationTitle: 'What the encryption protects against',
    explanation:
      'The browser of the writer encrypts the paste. The key is in the link, behind the #, which browsers send to no server. Whoever has only the data of this service, such as its operator, an intruder or a backup, cannot read the paste. The service still knows its size, its times and the addresses of its readers. It also serves the script that decrypts: a service that is hostile or broken into could serve another script, which reads the key. Everybody who has the whole link, and the password if there is one, can read the paste.',
    inBrowser: {
      loading: 'Loading the encrypted paste …',
      decrypting: 'Decrypting …',
      noKey:
        'The link is incomplete: the key behind the # is missing. Open the whole link, or ask the writer for it.',
      unreachable: 'The server did not send the paste. Reload the page to try again.',
      notRevealed:
        'The server did not send the whole paste. Press the button again within five minutes, and do not reload this page.',
      gone: 'The paste was read, was deleted or has expired.',
      unknownFormat: 'The paste was decrypted, but this page cannot show what is in it.',
      tooLarge: 'The decrypted paste is too large for this page.',
      askPassword: 'The paste has a password, or the key in the link is wrong. Enter the password.',
      wrong: 'The password or the key in the link is wrong, or somebody has changed the paste.',
      onlyCopy:
        'The service has deleted the paste, and this page has the only copy. Correct the password, or the key in the address, or download the encrypted document. The command pasteflow cat --from FILE decrypts it.',
      saveDocument: 'Download the encrypted document',
      attachment: 'Download NAME',
    },
  },

  timeline: {
    title: (paste: string) => `Timeline of ${paste}`,
    back: 'Back to the paste',
    intro: 'Every state of this paste and every attempt at its upload, as the database recorded them.',
    chart: 'States and attempts over time',
    paste: 'Paste',
    job: 'Job',
    attempt: (number: number) => `Attempt ${number}`,
    transitions: 'Transitions',
    attempts: 'Attempts',
    retries: 'Retries',
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

  myPastes: myPastesWords,
  myJobs: myJobsWords,
  job: jobWords,
  mySessions: mySessionsWords,
  myTokens: myTokensWords,
  myAccount: myAccountWords,
  signIn: signInWords,

  problem: {
    correct: 'Correct this and send the form again:',
    unknownPage: { title: 'Page not found', detail: 'There is no page at this address. Check the URL.' },
    failedTitle: 'The upload of this paste failed',
    failedDetail:
      'The storage did not take the text, and the attempts have ended: there is nothing to show at this address. The timeline says when and why.',
    failedHelp:
      'For 24 hours the operator of this service can retry the upload; the paste then appears here. Or create the paste again.',
    back: 'Create a new paste',
    timeline: 'Show the timeline',
    signIn: 'Sign in, if it is a private paste of yours',
    requestId: 'Request id',
  },

  bytes: (count: number) => `${count} ${count === 1 ? 'byte' : 'bytes'}`,
} as const;
