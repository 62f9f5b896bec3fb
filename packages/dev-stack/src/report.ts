/** Where a line for the person at the terminal goes. */
export type Report = (line: string) => void;
