import { totalmem } from 'node:os';

/** The bytes of memory that this process may use: those of its container, otherwise those of the machine. */
export function memoryLimitBytes(): number {
  const constrained = process.constrainedMemory();
  return constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
}
