import { isDeepEqual } from "../assert/deep-equal.ts";
import { format, formatWithOptions } from "../inspect/format.ts";
import { invalidArgument, unsupportedModule } from "../errors.ts";
import { guest, type GuestSignal } from "../globals.ts";
import { inspect } from "../inspect/inspect.ts";
import { MIMEParams, MIMEType } from "./mime-type.ts";
import { parseArgs } from "./parse-args.ts";
import { systemErrorMap } from "../system-errors.ts";
import timers from "../timers/timers-promises.ts";
import { callbackify, deprecate, inherits, promisify, promisifyCustom } from "./util-functions.ts";
import { types } from "../inspect/util-types.ts";

const styles: Record<string, readonly [number, number]> = {
  reset: [0, 0],
  bold: [1, 22],
  dim: [2, 22],
  italic: [3, 23],
  underline: [4, 24],
  inverse: [7, 27],
  hidden: [8, 28],
  strikethrough: [9, 29],
  black: [30, 39],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  blue: [34, 39],
  magenta: [35, 39],
  cyan: [36, 39],
  white: [37, 39],
  gray: [90, 39],
  grey: [90, 39],
  redBright: [91, 39],
  greenBright: [92, 39],
  yellowBright: [93, 39],
  blueBright: [94, 39],
  magentaBright: [95, 39],
  cyanBright: [96, 39],
  whiteBright: [97, 39],
  bgBlack: [40, 49],
  bgRed: [41, 49],
  bgGreen: [42, 49],
  bgYellow: [43, 49],
  bgBlue: [44, 49],
  bgMagenta: [45, 49],
  bgCyan: [46, 49],
  bgWhite: [47, 49],
};

// Node omits colours unless the stream is a terminal, which it never is here; `validateStream: false` forces them.
function styleText(style: string | readonly string[], text: string, options: { validateStream?: boolean } = {}): string {
  const list = [style].flat();
  for (const name of list)
    if (name !== "none" && styles[name] === undefined) throw invalidArgument("format", `one of ${Object.keys(styles).join(", ")}`, name);
  if (options.validateStream !== false) return text;
  return list.reduceRight((inner, name) => `\u001b[${styles[name]?.[0] ?? 0}m${inner}\u001b[${styles[name]?.[1] ?? 0}m`, text);
}

// eslint-disable-next-line no-control-regex
const controlCodes =
  /[\u001b\u009b][[\]()#;?]*(?:(?:(?:(?:;[-a-zA-Z\d/#&.:=?%@~_]+)*|[a-zA-Z\d]+(?:;[-a-zA-Z\d/#&.:=?%@~_]*)*)?(?:\u0007|\u001b\u005c|\u009c))|(?:(?:\d{1,4}(?:;\d{0,4})*)?[\dA-PR-TZcf-nq-uy=><~]))/g;

function debuglog(section: string): ((...args: unknown[]) => void) & { enabled: boolean } {
  const { process } = guest as unknown as { process?: { env?: Record<string, string | undefined> } };
  const enabled = (process?.env?.["NODE_DEBUG"] ?? "").toLowerCase().split(",").includes(section.toLowerCase());
  const log = (...args: unknown[]): void => {
    if (enabled) guest.console.error(`${section.toUpperCase()} 1: ${format(...args)}`);
  };
  return Object.assign(log, { enabled });
}

function aborted(signal: GuestSignal, resource: unknown): Promise<void> {
  if (typeof resource !== "object" || resource === null) throw invalidArgument("resource", "of type object", resource);
  return signal.aborted ? Promise.resolve() : new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}

function parseEnv(content: string): Record<string, string> {
  const values: Record<string, string> = {};
  for (const match of content.matchAll(/^\s*(?:export\s+)?([\w.-]+)[^\S\n]*=[^\S\n]*("(?:[^"\\]|\\.)*"|'[^']*'|`[^`]*`|[^#\n\r]*)?.*$/gm)) {
    const raw = (match[2] ?? "").trim();
    const inner = /^(["'`])([\s\S]*)\1$/.exec(raw);
    values[match[1] ?? ""] = inner === null ? raw : inner[1] === '"' ? (inner[2] ?? "").replaceAll("\\n", "\n") : (inner[2] ?? "");
  }
  return values;
}

const primitive = (value: unknown): boolean => value === null || (typeof value !== "object" && typeof value !== "function");

// `promisify(setTimeout)` is an idiom; a timer's callback is its first argument, so it needs the version made for it.
for (const name of ["setTimeout", "setImmediate"] as const)
  Object.defineProperty(guest[name], promisifyCustom, { value: timers[name], configurable: true, writable: true });

/** `node:util`. */
export default {
  ...unsupportedModule(
    "util",
    ["setTraceSigInt", "transferableAbortController", "transferableAbortSignal"],
    "it needs a process of one's own",
  ),
  aborted,
  callbackify,
  debug: debuglog,
  debuglog,
  deprecate,
  format,
  formatWithOptions,
  inherits,
  inspect,
  MIMEParams,
  MIMEType,
  parseArgs,
  parseEnv,
  promisify,
  styleText,
  types,
  stripVTControlCharacters: (text: string): string => text.replace(controlCodes, ""),
  isDeepStrictEqual: (a: unknown, b: unknown): boolean => isDeepEqual(a, b, true),
  toUSVString: (text: unknown): string => String(text).toWellFormed(),
  getSystemErrorMap: systemErrorMap,
  getSystemErrorName: (errno: number): string => systemErrorMap().get(errno)?.[0] ?? `Unknown system error ${errno}`,
  getSystemErrorMessage: (errno: number): string => systemErrorMap().get(errno)?.[1] ?? `Unknown system error ${errno}`,
  getCallSites: (): unknown[] => [],
  _extend: (target: object, source: unknown): object =>
    typeof source === "object" && source !== null ? Object.assign(target, source) : target,
  // Removed from newer versions of Node, but still called by old packages.
  isArray: Array.isArray,
  isBoolean: (value: unknown): boolean => typeof value === "boolean",
  isBuffer: (value: unknown): boolean => (guest["Buffer"] as { isBuffer(value: unknown): boolean }).isBuffer(value),
  isDate: types.isDate,
  isError: types.isNativeError,
  isFunction: (value: unknown): boolean => typeof value === "function",
  isNull: (value: unknown): boolean => value === null,
  isNullOrUndefined: (value: unknown): boolean => value === null || value === undefined,
  isNumber: (value: unknown): boolean => typeof value === "number",
  isObject: (value: unknown): boolean => typeof value === "object" && value !== null,
  isPrimitive: primitive,
  isRegExp: types.isRegExp,
  isString: (value: unknown): boolean => typeof value === "string",
  isSymbol: (value: unknown): boolean => typeof value === "symbol",
  isUndefined: (value: unknown): boolean => value === undefined,
  log: (...args: unknown[]): void => guest.console.log(format(...args)),
  TextDecoder: guest.TextDecoder,
  TextEncoder: guest.TextEncoder,
};
