/** stdout takes nothing more: its reader is gone, or its disk is full. The program has said so where a person needs to know. */
export class OutputClosedError extends Error {}
