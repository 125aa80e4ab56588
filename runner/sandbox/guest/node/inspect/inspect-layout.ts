/** What a `util.inspect` call carries along. */
export interface InspectContext {
  readonly seen: unknown[];
  readonly circular: Map<unknown, number>;
  indentation: number;
  propertiesLeft: number;
  currentDepth: number;
  readonly depth: number | null;
  readonly breakLength: number;
  readonly compact: number | boolean;
  readonly colors: boolean;
  readonly customInspect: boolean;
  readonly showHidden: boolean;
  readonly maxArrayLength: number;
  readonly maxStringLength: number;
  readonly sorted: boolean | ((a: string, b: string) => number);
  readonly getters: boolean | "get" | "set";
  readonly numericSeparator: boolean;
  readonly given: object;
}

export interface Braces {
  open: string;
  close: string;
}

const colorCodes = /\u001b\[[0-9;]*m/g;
const width = (text: string, colors: boolean): number => (colors ? text.replace(colorCodes, "") : text).length;

/** Puts the parts of an object or array on one line when they fit, else one a line; long arrays become columns. */
export function layOut(
  context: InspectContext,
  parts: string[],
  base: string,
  braces: Braces,
  elements: readonly unknown[] | undefined,
  depth: number,
): string {
  const { compact } = context;
  const prefix = base === "" ? "" : `${base} `;
  const indent = `\n${" ".repeat(context.indentation)}`;
  if (compact === true) {
    if (fits(context, parts, 0, base)) return `${braces.open}${base === "" ? "" : ` ${base}`} ${parts.join(", ")} ${braces.close}`;
    const line = base === "" && braces.open.length === 1 ? " " : `${base === "" ? "" : ` ${base}`}${indent}  `;
    return `${braces.open}${line}${parts.join(`,${indent}  `)} ${braces.close}`;
  }
  let rows = parts;
  if (compact !== false && compact >= 1) {
    if (elements !== undefined && parts.length > 6) rows = columns(context, parts, elements, compact);
    if (context.currentDepth - depth < compact && rows.length === parts.length) {
      const start = rows.length + context.indentation + braces.open.length + base.length + 10;
      const joined = rows.join(", ");
      if (fits(context, rows, start, base) && !joined.includes("\n")) return `${prefix}${braces.open} ${joined} ${braces.close}`;
    }
  }
  return `${prefix}${braces.open}${indent}  ${rows.join(`,${indent}  `)}${indent}${braces.close}`;
}

function fits(context: InspectContext, parts: readonly string[], start: number, base: string): boolean {
  let total = parts.length + start;
  if (total + parts.length > context.breakLength) return false;
  for (const part of parts) {
    total += width(part, context.colors);
    if (total > context.breakLength) return false;
  }
  return !base.includes("\n");
}

/** Node's column layout: near-square, at most 15 columns, numbers aligned right. */
function columns(context: InspectContext, parts: string[], elements: readonly unknown[], compact: number): string[] {
  const count = context.maxArrayLength < elements.length ? parts.length - 1 : parts.length;
  const lengths = parts.slice(0, count).map((part) => width(part, context.colors));
  const total = lengths.reduce((sum, length) => sum + length + 2, 0);
  const longest = Math.max(0, ...lengths);
  const cell = longest + 2;
  if (cell * 3 + context.indentation >= context.breakLength || (total / cell <= 5 && longest > 6)) return parts;
  const biased = Math.max(cell - 3 - Math.sqrt(cell - total / parts.length), 1);
  const across = Math.min(
    Math.round(Math.sqrt(2.5 * biased * count) / biased),
    Math.floor((context.breakLength - context.indentation) / cell),
    compact * 4,
    15,
  );
  if (across <= 1) return parts;
  const widths = Array.from(
    { length: across },
    (_, column) => Math.max(...lengths.filter((_length, index) => index % across === column)) + 2,
  );
  const right = parts.every((_, index) => typeof elements[index] === "number" || typeof elements[index] === "bigint");
  const rows: string[] = [];
  for (let row = 0; row < count; row += across) {
    const cells = parts.slice(row, Math.min(row + across, count));
    rows.push(
      cells
        .map((part, column) =>
          place(part, (widths[column] ?? 0) + part.length - (lengths[row + column] ?? 0), column === cells.length - 1, right),
        )
        .join(""),
    );
  }
  if (count < parts.length) rows.push(...parts.slice(count));
  return rows;
}

function place(part: string, room: number, last: boolean, right: boolean): string {
  if (right) return last ? part.padStart(room - 2) : `${part}, `.padStart(room);
  return last ? part : `${part}, `.padEnd(room);
}
