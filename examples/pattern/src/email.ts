import { defineMachine } from '@pasteflow/domain';

/** The domain table: every state of an e-mail, and who moves it on. All else follows from it. */
export const email = defineMachine({
  name: 'email',
  storedIn: {
    table: 'emails',
    column: 'status',
    identityColumns: ['id', 'recipient', 'body'],
    reasonColumn: 'error',
  },
  initial: 'QUEUED',
  states: {
    QUEUED: { meaning: 'Due at run_at. A worker claims the e-mail.', to: ['SENDING'] },
    SENDING: {
      meaning:
        'A worker holds the e-mail under a lease. It settles the e-mail; the sweep does once the lease has expired.',
      to: ['SENT', 'QUEUED', 'FAILED'],
      since: 'claimed_at',
    },
    SENT: { meaning: 'The mail server has accepted the e-mail.', to: [] },
    FAILED: { meaning: 'Every attempt failed; error says why.', to: [] },
  },
});
