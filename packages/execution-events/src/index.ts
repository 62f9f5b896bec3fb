export {
  jobAttemptEvents,
  jobFields,
  uploadAttemptEvents,
  uploadFields,
  type AttemptEnd,
  type AttemptEvents,
} from './attempt-events.ts';
