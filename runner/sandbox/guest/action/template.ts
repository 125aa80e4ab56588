/**
 * A text with expressions, `Hello {{ steps.trigger.event.name }}`: one more part of text than expressions, in turns.
 */
export interface Template {
  readonly texts: readonly string[];
  readonly expressions: readonly Expression[];
  /** The text is one expression, with nothing but spaces around it. */
  readonly isWhole: boolean;
}

interface Expression {
  readonly source: string;
  readonly run: (steps: unknown, env: unknown, process: unknown) => unknown;
}

interface Misfit {
  readonly source: string;
  readonly problem: string;
}

/** `}}` that may end one expression: each costs a compilation. */
const maxEnds = 50;
/** Of an expression. */
const maxCharacters = 16 * 1024;
const NativeFunction = Function;

/**
 * An expression ends at the first `}}` that makes it one: `{{ {a: {b: 1}} }}` and `{{ "}}" }}` contain others. `{{` without a `}}` behind it
 * is text. domain/workflow/expressions.ts finds the same expressions.
 */
export function compileTemplate(text: string): Template | Misfit {
  const texts: string[] = [];
  const expressions: Expression[] = [];
  let from = 0;
  for (;;) {
    const start = text.indexOf("{{", from);
    const found = start === -1 ? undefined : expressionAt(text, start + 2);
    if (found === undefined) break;
    if ("problem" in found) return found;
    texts.push(text.slice(from, start));
    expressions.push(found.expression);
    from = found.end;
  }
  texts.push(text.slice(from));
  return { texts, expressions, isWhole: expressions.length === 1 && texts.every((part) => part.trim() === "") };
}

function expressionAt(text: string, start: number): { readonly expression: Expression; readonly end: number } | Misfit | undefined {
  let first: Misfit | undefined;
  let end = text.indexOf("}}", start);
  for (let ends = 0; end !== -1 && ends < maxEnds; ends++) {
    const source = text.slice(start, end);
    if (source.length > maxCharacters) return first ?? { source, problem: `it has more than ${maxCharacters} characters, the limit` };
    try {
      // `a)(` is an expression only within parentheses: it must be one within brackets too. Compiled, not run.
      new NativeFunction(`[${source}\n]`);
      const run = new NativeFunction("steps", "env", "process", `"use strict"; return (${source}\n);`) as Expression["run"];
      return { expression: { source, run }, end: end + 2 };
    } catch (error) {
      first ??= { source, problem: error instanceof Error ? `${error.name}: ${error.message}` : String(error) };
    }
    end = text.indexOf("}}", end + 1);
  }
  return first;
}
