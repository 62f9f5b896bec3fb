export { asJson, EXIT_FAILED, EXIT_USAGE, failed, printAnswer, succeeded, type Answer } from './answer.ts';
export { misused, parseArguments, quote, type Misused } from './arguments.ts';
export { withDatabase } from './database.ts';
export { runCommandLine, type Help } from './run-command-line.ts';
export { formatTable, toOneLine } from './table.ts';
export { formatDuration, formatMillisecond, formatSecond } from './time.ts';
