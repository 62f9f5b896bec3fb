import { hash } from 'node:crypto';

/** In hex. In one call, which takes half the time of an object for a digest. */
export const sha256 = (text: string): string => hash('sha256', text);

/** As SQS computes it for each body, in hex. */
export const md5 = (text: string): string => hash('md5', text);
