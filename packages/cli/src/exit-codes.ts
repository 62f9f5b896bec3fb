export const EXIT_DONE = 0;
/** The command failed, or a part of it. */
export const EXIT_FAILED = 1;
/** The command line or the configuration is wrong. */
export const EXIT_MISUSED = 2;

export type ExitCode = typeof EXIT_DONE | typeof EXIT_FAILED | typeof EXIT_MISUSED;
