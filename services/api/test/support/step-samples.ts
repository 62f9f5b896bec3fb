/** Parsers of a known cost. They are evaluated with the sources, whose strings the counter of steps reads. */
export const linear = (text: string): boolean => /^\s*a/.test(text);
export const quadratic = (text: string): boolean => /^\s*(\d*)\s*-/.test(text);
export const linearByMethods = (text: string): string[] => text.split(' ').map((part) => part.trim());
