/** Alone in its file, so that the other dialect of that module is left out. */
export { css, less, sCSS } from '@codemirror/legacy-modes/mode/css';
