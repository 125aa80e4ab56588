import { invalidArgument, nodeError } from "../errors.ts";

interface Option {
  readonly type: "string" | "boolean";
  readonly short?: string;
  readonly multiple?: boolean;
  readonly default?: unknown;
}
interface Config {
  readonly args?: readonly string[];
  readonly options?: Readonly<Record<string, Option>>;
  readonly strict?: boolean;
  readonly allowPositionals?: boolean;
  readonly allowNegative?: boolean;
}
interface Parsed {
  values: Record<string, unknown>;
  positionals: string[];
}

/** `util.parseArgs`: long and short options, groups of short ones, `--`, negation, defaults. Tokens are not returned. */
export function parseArgs(config: Config = {}): Parsed {
  const { args = [], options = {}, strict = true } = config;
  const allowPositionals = config.allowPositionals ?? !strict;
  const parsed: Parsed = { values: Object.create(null) as Record<string, unknown>, positionals: [] };
  const queue = [...args];
  while (queue.length > 0) {
    const arg = queue.shift() ?? "";
    if (arg === "--") {
      for (const rest of queue.splice(0)) positional(parsed, rest, allowPositionals);
    } else if (/^--./.test(arg)) long(parsed, arg, queue, options, config, strict);
    else if (/^-./.test(arg)) short(parsed, arg, queue, options, config, strict);
    else positional(parsed, arg, allowPositionals);
  }
  for (const [name, option] of Object.entries(options))
    if (option.default !== undefined && parsed.values[name] === undefined) parsed.values[name] = option.default;
  return parsed;
}

function positional(parsed: Parsed, arg: string, allowed: boolean): void {
  if (!allowed)
    throw nodeError(
      "ERR_PARSE_ARGS_UNEXPECTED_POSITIONAL",
      `Unexpected argument '${arg}'. This command does not take positional arguments`,
      TypeError,
    );
  parsed.positionals.push(arg);
}

function long(
  parsed: Parsed,
  arg: string,
  queue: string[],
  options: NonNullable<Config["options"]>,
  config: Config,
  strict: boolean,
): void {
  const equals = arg.indexOf("=");
  const name = equals === -1 ? arg.slice(2) : arg.slice(2, equals);
  if (config.allowNegative === true && name.startsWith("no-") && options[name.slice(3)]?.type === "boolean") {
    store(parsed, name.slice(3), false, options[name.slice(3)]);
    return;
  }
  take(parsed, name, `--${name}`, equals === -1 ? undefined : arg.slice(equals + 1), queue, options[name], strict);
}

function short(
  parsed: Parsed,
  arg: string,
  queue: string[],
  options: NonNullable<Config["options"]>,
  _config: Config,
  strict: boolean,
): void {
  for (let index = 1; index < arg.length; index++) {
    const letter = arg.charAt(index);
    const name = Object.keys(options).find((key) => options[key]?.short === letter) ?? letter;
    const rest = arg.slice(index + 1);
    if (options[name]?.type === "string" && rest !== "") {
      take(parsed, name, `-${letter}`, rest, queue, options[name], strict);
      return;
    }
    take(parsed, name, `-${letter}`, undefined, queue, options[name], strict);
  }
}

function take(
  parsed: Parsed,
  name: string,
  written: string,
  inline: string | undefined,
  queue: string[],
  option: Option | undefined,
  strict: boolean,
): void {
  if (option === undefined && strict) throw nodeError("ERR_PARSE_ARGS_UNKNOWN_OPTION", `Unknown option '${written}'`, TypeError);
  if (option?.type === "string") {
    const value = inline ?? (queue[0] !== undefined && (!strict || !queue[0].startsWith("-")) ? queue.shift() : undefined);
    if (value === undefined && strict)
      throw nodeError("ERR_PARSE_ARGS_INVALID_OPTION_VALUE", `Option '${written} <value>' argument missing`, TypeError);
    store(parsed, name, value ?? true, option);
    return;
  }
  if (inline !== undefined && strict && option !== undefined)
    throw nodeError("ERR_PARSE_ARGS_INVALID_OPTION_VALUE", `Option '${written}' does not take an argument`, TypeError);
  store(parsed, name, inline ?? true, option);
}

function store(parsed: Parsed, name: string, value: unknown, option: Option | undefined): void {
  if (name === "__proto__") throw invalidArgument("option", "another name", name);
  if (option?.multiple !== true) parsed.values[name] = value;
  else parsed.values[name] = [...((parsed.values[name] as unknown[] | undefined) ?? []), value];
}
