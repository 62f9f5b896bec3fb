import { defineMachine, type StateOf } from '../machine.ts';

export const pasteReport = defineMachine({
  name: 'paste_report',
  storedIn: {
    table: 'paste_reports',
    column: 'status',
    identityColumns: ['id', 'content_hash'], // a retry gives the report to the paste that replaces its own
    reasonColumn: null,
  },
  initial: 'open',
  states: {
    open: {
      meaning:
        'An operator judges the report. The cleanup removes the report of a paste that was deleted meanwhile.',
      to: ['upheld', 'rejected'],
    },
    upheld: { meaning: 'The paste was taken down.', to: [] },
    rejected: { meaning: 'The content stays, and is not reported again.', to: [] },
  },
});

export type PasteReportState = StateOf<typeof pasteReport>;
