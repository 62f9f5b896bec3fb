import { z } from 'zod';

// Only `format`: zod's iso.datetime() and uuid() would put patterns of hundreds of characters into the
// document.

/** RFC 3339, in UTC. */
export const instant = z.string().meta({ format: 'date-time' });
export const uuid = z.string().meta({ format: 'uuid' });
