import { type Node, type Options, Parser, tokTypes } from "acorn";

/** Of one expression. */
export const maxCharacters = 16 * 1024;
/** `}}` within one expression. The isolate compiles a candidate for each, see template.ts of its guest. */
const maxInnerEnds = 49;
/** Line comments with `}}` that are tried as the end of one expression: a parse each. */
const maxComments = 10;
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
  const comments: number[] = [];
  const whole = parseOnce(input, comments);
  const parsed = endInComment(input, comments, whole) ?? whole;
  if (typeof parsed === "string") return { source, result: parsed };
  const found = input.slice(0, parsed.end);
  return hasFewEnds(found) ? { source: found, result: parsed.node } : { source: found, result: tooManyEnds };
}

interface Parsed {
  readonly node: Node;
  readonly end: number;
}

/** A `}}` in a line comment ends the expression if what precedes the comment is complete. @param comments where these comments begin */
function endInComment(input: string, comments: readonly number[], whole: Parsed | string): Parsed | undefined {
  for (const start of comments.slice(0, maxComments)) {
    if (typeof whole !== "string" && start > whole.end) return undefined;
    const before = parseOnce(`${input.slice(0, start)}}}`);
    if (typeof before !== "string" && before.end === start) return { node: before.node, end: input.indexOf("}}", start) };
  }
  return undefined;
}

const tooLong = `it has more than ${maxCharacters} characters, the limit`;
const tooManyEnds = `it contains more than ${maxInnerEnds} times }}, the limit`;
const tooDeep = "it is nested too deeply";

/** @param comments receives where line comments with a `}}` begin that no brace or parenthesis encloses */
function parseOnce(input: string, comments: number[] = []): Parsed | string {
  const parser = new ExpressionParser(input, comments);
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
  readonly #comments: number[];
  #declarations = 0;

  constructor(input: string, comments: number[]) {
    // Behind a character, since `-->` at the beginning of a program is a comment.
    super(options, `(${input}`, 1);
    this.#comments = comments;
  }

  /** An expression and the `}}` behind it. */
  parseBraced(): Parsed {
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
    if (this.context.length > 1) return;
    const end = this.input.indexOf("}}", start + startSkip);
    if (end !== -1 && end < this.pos) this.#comments.push(start - 1);
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
