import { inspect, type InspectOptions } from "./inspect.ts";

/** `util.formatWithOptions`: printf-like when the first argument is text, then everything else with a space between. */
export function formatWithOptions(options: InspectOptions, ...args: unknown[]): string {
  const [first, ...rest] = args;
  if (typeof first !== "string") return args.map((value) => shown(options, value)).join(" ");
  if (rest.length === 0) return first;
  let used = 0;
  const text = first.replace(/%[sdijfoOc%]/g, (directive) => {
    if (directive === "%%") return "%";
    if (used >= rest.length) return directive;
    const value = rest[used];
    used += 1;
    return substitute(options, directive, value);
  });
  return [text, ...rest.slice(used).map((value) => shown(options, value))].join(" ");
}

export const format = (...args: unknown[]): string => formatWithOptions({}, ...args);

const shown = (options: InspectOptions, value: unknown): string =>
  typeof value === "string" ? value : inspect(value, { ...options, compact: 3, colors: options.colors ?? false });

function substitute(options: InspectOptions, directive: string, value: unknown): string {
  switch (directive) {
    case "%s":
      return asString(options, value);
    case "%d":
      return typeof value === "bigint" ? `${value}n` : typeof value === "symbol" ? "NaN" : number(Number(value));
    case "%i":
      return typeof value === "bigint" ? `${value}n` : typeof value === "symbol" ? "NaN" : number(Number.parseInt(String(value), 10));
    case "%f":
      return typeof value === "symbol" ? "NaN" : number(Number.parseFloat(String(value)));
    case "%j":
      return json(value);
    case "%o":
      return inspect(value, { ...options, showHidden: true, depth: 4 });
    case "%O":
      return inspect(value, options);
    default:
      return ""; // %c takes CSS and prints nothing
  }
}

const number = (value: number): string => (Object.is(value, -0) ? "-0" : String(value));

function asString(options: InspectOptions, value: unknown): string {
  if (typeof value === "number") return number(value);
  if (typeof value === "bigint") return `${value}n`;
  if (typeof value !== "object" || value === null) return String(value);
  // Objects with their own `toString`, or that of a user-defined class, are formatted by it.
  if (hasOwnToString(value)) return String(value);
  return inspect(value, { ...options, depth: 0, colors: false, compact: 3 });
}

function hasOwnToString(value: object): boolean {
  const method = (value as { toString?: unknown }).toString;
  return (
    typeof method === "function" &&
    method !== Object.prototype.toString &&
    method !== Array.prototype.toString &&
    !Function.prototype.toString.call(method).includes("[native code]")
  );
}

function json(value: unknown): string {
  try {
    return String(JSON.stringify(value));
  } catch (error) {
    if (error instanceof TypeError && error.message.includes("circular")) return "[Circular]";
    throw error;
  }
}
