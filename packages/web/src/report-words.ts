/** Every text of reports. */
export const reportWords = {
  link: 'Report',
  title: (paste: string) => `Report the paste ${paste}`,
  intro:
    'The operators of this service read your report and decide whether the paste stays. They cannot read an encrypted paste: say what it contains.',
  reason: 'Reason',
  reasons: {
    illegal: 'Illegal content',
    copyright: 'Infringes a copyright',
    malware: 'Malware',
    phishing: 'Phishing',
    personal_data: 'Personal data or credentials',
    spam: 'Spam',
    other: 'Something else',
  },
  text: 'What is wrong (optional)',
  contact: 'Your email address (optional)',
  contactHint:
    'So that the operators can ask you. Text and address are removed some weeks after the decision.',
  send: 'Send the report',
  done: 'The report is sent',
  doneText: 'An operator of this service will judge it.',
  held: 'Many readers have reported this paste. Until an operator has decided, only you can read it.',
} as const;
