import { z } from 'zod';

// By `format` only: zod's own iso.datetime() and uuid() put patterns of hundreds of characters into the document.

/** RFC 3339, in UTC. */
export const instant = z.string().meta({ format: 'date-time' });
export const uuid = z.string().meta({ format: 'uuid' });
