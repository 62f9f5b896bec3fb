import { parseRegExpLiteral, type AST } from '@eslint-community/regexpp';

/** A program for a backtracking matcher: one instruction for each character, choice and assertion. */
type Instruction =
  | { readonly kind: 'character'; readonly matches: (code: number) => boolean }
  | { readonly kind: 'choice'; first: number; second: number }
  | { readonly kind: 'jump'; to: number }
  | { readonly kind: 'start' | 'end' | 'word' | 'match' };

/** Far more than a linear parser takes for 16 KB: a test that exceeds it fails rather than runs for ever. */
const MAX_STEPS = 20_000_000;

/** Called with `call`, since the counter replaces it. */
// oxlint-disable-next-line typescript/unbound-method
const exec = RegExp.prototype.exec;
const programs = new Map<string, readonly Instruction[]>();

/** String methods that read their whole text. */
const METHODS = [
  'split',
  'trim',
  'replaceAll',
  'indexOf',
  'includes',
  'toLowerCase',
  'slice',
  'substring',
] as const;

/**
 * The steps of a synchronous function, as a backtracking matcher takes them: one for each instruction of a
 * regular expression that is tried at a character, and one for each character that a string method reads.
 */
export function countSteps(run: () => unknown): number {
  let steps = 0;
  let isCounter = false; // the counter's own operations don't count
  const originals = METHODS.map((name) => [name, String.prototype[name]] as const);
  RegExp.prototype.exec = function (text: string) {
    if (!isCounter) {
      isCounter = true;
      steps += stepsOf(this, String(text));
      isCounter = false;
    }
    return exec.call(this, text);
  };
  for (const [name, method] of originals) {
    Object.defineProperty(String.prototype, name, {
      configurable: true,
      writable: true,
      value(this: string, ...rest: unknown[]): unknown {
        if (!isCounter) steps += this.length;
        return Reflect.apply(method, this, rest) as unknown;
      },
    });
  }
  try {
    run();
  } finally {
    RegExp.prototype.exec = exec;
    for (const [name, value] of originals)
      Object.defineProperty(String.prototype, name, { configurable: true, writable: true, value });
  }
  return steps;
}

/** The steps from `lastIndex` to the first match, or from each position of the text when there is none. */
function stepsOf(expression: RegExp, text: string): number {
  const key = String(expression);
  const program = programs.get(key) ?? compile(expression);
  programs.set(key, program);
  const first = expression.global || expression.sticky ? expression.lastIndex : 0;
  const isAnchored = expression.sticky || program[0]?.kind === 'start';
  let steps = 0;
  for (let start = first; start <= text.length && steps < MAX_STEPS; start += 1) {
    const tried = stepsFrom(program, text, start);
    steps += tried.steps;
    if (tried.matched || isAnchored) break;
  }
  return steps;
}

function stepsFrom(program: readonly Instruction[], text: string, start: number) {
  const untried: number[] = [0, start];
  let steps = 0;
  while (untried.length > 0 && steps < MAX_STEPS) {
    let at = untried.pop() as number;
    let next: number | null = untried.pop() as number;
    while (next !== null) {
      steps += 1;
      const instruction = program[next] as Instruction;
      switch (instruction.kind) {
        case 'match':
          return { steps, matched: true };
        case 'jump':
          next = instruction.to;
          break;
        case 'choice':
          untried.push(instruction.second, at);
          next = instruction.first;
          break;
        case 'character':
          next = at < text.length && instruction.matches(text.charCodeAt(at)) ? next + 1 : null;
          at += 1;
          break;
        default:
          next = holds(instruction.kind, text, at) ? next + 1 : null;
      }
    }
  }
  return { steps, matched: false };
}

function holds(kind: 'start' | 'end' | 'word', text: string, at: number): boolean {
  if (kind === 'start') return at === 0;
  if (kind === 'end') return at === text.length;
  return isWord(text, at - 1) !== isWord(text, at);
}

function isWord(text: string, at: number): boolean {
  return exec.call(/\w/, text.charAt(at)) !== null;
}

function compile(expression: RegExp): readonly Instruction[] {
  const program: Instruction[] = [];
  const addAlternatives = ([first, ...rest]: readonly AST.Alternative[]): void => {
    if (first === undefined) return;
    const choice = { kind: 'choice' as const, first: program.length + 1, second: 0 };
    if (rest.length > 0) program.push(choice);
    first.elements.forEach(addElement);
    if (rest.length === 0) return;
    const jump = { kind: 'jump' as const, to: 0 };
    program.push(jump);
    choice.second = program.length;
    addAlternatives(rest);
    jump.to = program.length;
  };
  /** Each choice is to go on inside the quantifier or to leave it. */
  const addOptional = ({ element, greedy, min, max }: AST.Quantifier): void => {
    const choices: { at: number; choice: { kind: 'choice'; first: number; second: number } }[] = [];
    for (let i = min; i < (max === Infinity ? min + 1 : max); i += 1) {
      const choice = { kind: 'choice' as const, first: 0, second: 0 };
      choices.push({ at: program.push(choice) - 1, choice });
      addElement(element);
      if (max === Infinity) program.push({ kind: 'jump', to: choices[0]?.at ?? 0 });
    }
    for (const { at, choice } of choices)
      [choice.first, choice.second] = greedy ? [at + 1, program.length] : [program.length, at + 1];
  };
  const addElement = (element: AST.Element): void => {
    switch (element.type) {
      case 'Character':
      case 'CharacterClass':
      case 'CharacterSet':
        program.push({ kind: 'character', matches: matcherOf(element.raw, expression.flags) });
        break;
      case 'Group':
      case 'CapturingGroup':
        addAlternatives(element.alternatives);
        break;
      case 'Quantifier':
        for (let i = 0; i < element.min; i += 1) addElement(element.element);
        addOptional(element);
        break;
      case 'Assertion':
        if (element.kind === 'lookahead' || element.kind === 'lookbehind')
          throw new Error(`can't count ${element.raw}`);
        program.push({ kind: element.kind });
        break;
      default:
        throw new Error(`can't count ${element.raw}`);
    }
  };
  addAlternatives(parseRegExpLiteral(expression).pattern.alternatives);
  program.push({ kind: 'match' });
  return program;
}

function matcherOf(source: string, flags: string): (code: number) => boolean {
  const expression = new RegExp(`^${source}$`, flags.replace(/[gy]/g, ''));
  const known = new Map<number, boolean>();
  return (code) => {
    const found = known.get(code) ?? exec.call(expression, String.fromCharCode(code)) !== null;
    known.set(code, found);
    return found;
  };
}
