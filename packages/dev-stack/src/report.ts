/** Prints a line for the user at the terminal. */
export type Report = (line: string) => void;
