import { type Node, type Options, Parser, tokTypes } from "acorn";

/** Of one expression. */
export const maxCharacters = 16 * 1024;
/** `}}` within one expression. The isolate compiles a candidate for each, see template.ts of its guest. */
const maxInnerEnds = 49;
/** Functions and blocks within each other. Acorn walks all of them for some tokens. */
const maxScopes = 100;
/** Declarations of one expression that are checked for repetition, which takes a search each. */
const maxDeclarations = 200;
/** Characters of a regular expression that is checked; only the isolate checks a longer one, since some take more than linear time. */
const maxPattern = 256;

export interface ParsedExpression {
  /** Between the braces. */
  readonly source: string;
  /** Its syntax tree, or why there is none. */
  readonly result: Node | string;
}

/**
 * Reads the expression at the beginning of a text, which follows a `{{`. It ends at the first `}}` that makes it one. One parse finds that:
 * a `}` that no brace has opened ends the expression if it is complete, and is a mistake otherwise. Undefined if no `}}` follows.
 */
export function parseExpression(text: string): ParsedExpression | undefined {
  const firstEnd = text.indexOf("}}");
  if (firstEnd === -1) return undefined;
  const source = text.slice(0, firstEnd);
  if (firstEnd > maxCharacters) return { source, result: tooLong };
  const input = text.slice(0, maxCharacters + 2);
  const first = parseOnce(input, true);
  // A line comment ends at a `}}` that makes an expression, otherwise with its line.
  const parsed = typeof first === "string" && /\/\/|<!--|-->/.test(input) ? parseOnce(input, false) : first;
  if (typeof parsed === "string") return { source, result: parsed };
  const whole = input.slice(0, parsed.end);
  return hasFewEnds(whole) ? { source: whole, result: parsed.node } : { source, result: tooManyEnds };
}

const tooLong = `it has more than ${maxCharacters} characters, the limit`;
const tooManyEnds = `it contains more than ${maxInnerEnds} times }}, the limit`;
const tooDeep = "it is nested too deeply";

function parseOnce(input: string, endsComments: boolean): { readonly node: Node; readonly end: number } | string {
  const parser = new ExpressionParser(input, endsComments);
  try {
    return parser.parseBraced();
  } catch (error) {
    if (!(error instanceof SyntaxError)) {
      if (error instanceof RangeError) return tooDeep;
      throw error;
    }
    // The whole input was read: the expression may go on behind the limit.
    if (input.length > maxCharacters && parser.hasReadAll()) return tooLong;
    return error.message.startsWith("Not enough stack space") ? tooDeep : error.message.replace(/ \(\d+:\d+\)$/, "");
  }
}

function hasFewEnds(source: string): boolean {
  let ends = 0;
  for (let at = source.indexOf("}}"); at !== -1 && ends <= maxInnerEnds; at = source.indexOf("}}", at + 1)) ends += 1;
  return ends <= maxInnerEnds;
}

/** The members of acorn's parser that plugins override or call; its types do not declare them. */
declare class ParserWithInternals {
  constructor(options: Options, input: string, startPos?: number);
  readonly input: string;
  pos: number;
  readonly start: number;
  readonly type: unknown;
  readonly context: readonly unknown[];
  readonly scopeStack: readonly unknown[];
  readonly containsEsc: boolean;
  readonly regexpState: { reset(start: number, pattern: string, flags: string): void };
  nextToken(): void;
  parseExpression(): Node;
  raise(pos: number, message: string): never;
  unexpected(pos?: number): never;
  readWord1(): string;
  finishToken(type: unknown, value: unknown): void;
  skipLineComment(startSkip: number): void;
  readRegexp(): void;
  enterScope(flags: number): void;
  declareName(name: string, bindingType: number, pos: number): void;
  validateRegExpFlags(state: object): void;
  validateRegExpPattern(state: object): void;
}
const BaseParser = Parser as unknown as typeof ParserWithInternals; // Acorn documents this use of its parser, but not its types.
const options: Options = { ecmaVersion: "latest", strict: true, preserveParens: true };

/** A parser that takes linear time, whatever the input. */
class ExpressionParser extends BaseParser {
  readonly #endsComments: boolean;
  #declarations = 0;

  constructor(input: string, endsComments: boolean) {
    // Behind a character, since `-->` at the beginning of a program is a comment.
    super(options, `(${input}`, 1);
    this.#endsComments = endsComments;
  }

  /** An expression and the `}}` behind it. */
  parseBraced(): { readonly node: Node; readonly end: number } {
    this.nextToken();
    const node = this.parseExpression();
    if (this.type !== tokTypes.braceR || this.input[this.start + 1] !== "}") this.unexpected();
    return { node, end: this.start - 1 };
  }

  hasReadAll(): boolean {
    return this.pos >= this.input.length;
  }

  override skipLineComment(startSkip: number): void {
    const start = this.pos;
    super.skipLineComment(startSkip);
    // Within braces of the expression, a `}}` does not end it.
    if (!this.#endsComments || this.context.length > 1) return;
    const end = this.input.indexOf("}}", start + startSkip);
    if (end !== -1 && end < this.pos) this.pos = end;
  }

  /** Like acorn's, without `new RegExp`, which takes long for some patterns. */
  override readRegexp(): void {
    const start = this.pos;
    let isEscaped = false;
    let isInClass = false;
    for (; ; this.pos++) {
      const character = this.input.charAt(this.pos);
      if (character === "" || /[\n\r\u2028\u2029]/.test(character)) this.raise(start, "Unterminated regular expression");
      if (!isEscaped && character === "/" && !isInClass) break;
      if (!isEscaped && character === "[") isInClass = true;
      if (!isEscaped && character === "]") isInClass = false;
      isEscaped = !isEscaped && character === "\\";
    }
    const pattern = this.input.slice(start, this.pos);
    this.pos += 1;
    const flagsStart = this.pos;
    const flags = this.readWord1();
    if (this.containsEsc) this.unexpected(flagsStart);
    if (pattern.length <= maxPattern) checkRegularExpression(pattern, flags);
    this.finishToken(tokTypes.regexp, { pattern, flags, value: null });
  }

  override enterScope(flags: number): void {
    if (this.scopeStack.length > maxScopes) throw new RangeError(tooDeep);
    super.enterScope(flags);
  }

  override declareName(name: string, bindingType: number, pos: number): void {
    this.#declarations += 1;
    if (this.#declarations <= maxDeclarations) super.declareName(name, bindingType, pos);
  }
}

/** A parser that has read a regular expression, and so has the state that checks others. */
const regularExpressions = new BaseParser({ ecmaVersion: "latest" }, "/x/");
regularExpressions.nextToken();

/** @throws SyntaxError */
function checkRegularExpression(pattern: string, flags: string): void {
  const { regexpState } = regularExpressions;
  regexpState.reset(0, pattern, flags);
  regularExpressions.validateRegExpFlags(regexpState);
  regularExpressions.validateRegExpPattern(regexpState);
}
