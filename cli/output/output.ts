import { printable, printableJson, shown } from "./printable.ts";
import { formatTable, type Column } from "./table.ts";
import { toYaml } from "./yaml.ts";

export const formats = ["table", "wide", "json", "yaml", "name"] as const;
export type Format = (typeof formats)[number];

/** Standard output in the format of `-o`, and notes on standard error. Control characters of what it prints are escaped. */
export interface Output {
  readonly format: Format;
  readonly isQuiet: boolean;
  /** One thing: what the API answered as JSON or YAML, its name, or lines for people. */
  document(answer: unknown, view: () => readonly string[]): Promise<void>;
  /** A list: what the API answered as JSON or YAML, names, or a table. */
  list<T>(answer: { readonly data: readonly T[] }, columns: readonly Column<T>[], nameOf?: (item: T) => string): Promise<void>;
  /** The result of a change: what the API answered, or a sentence, which `--quiet` omits. */
  done(answer: unknown, sentence: string): Promise<void>;
  /** One of many results: as JSON one line, as YAML one document, its name, or lines for people. */
  record(value: unknown, view: () => readonly string[]): Promise<void>;
  /** A line on standard output, in every format. */
  line(text: string): Promise<void>;
  /** Text as it is, such as code, on standard output; in a terminal without its control characters. */
  exact(text: string): Promise<void>;
  /** A sentence on standard error, which `--quiet` omits. */
  note(text: string): void;
}

export interface OutputOptions {
  readonly format: Format;
  readonly isQuiet: boolean;
  /** Width of the terminal; undefined: unlimited. */
  readonly columns: number | undefined;
  /** Standard output is a terminal. */
  readonly isTerminal: boolean;
  readonly write: (text: string) => Promise<void>;
  readonly writeError: (text: string) => void;
}

export function createOutput({ format, isQuiet, columns: width, isTerminal, write, writeError }: OutputOptions): Output {
  const lines = (texts: readonly string[]): Promise<void> => write(texts.map((text) => `${shown(text)}\n`).join(""));
  const document = async (answer: unknown, view: () => readonly string[]): Promise<void> => {
    if (format === "json") return lines([printableJson(JSON.stringify(answer, null, 2) ?? "")]);
    if (format === "yaml") return write(await toYaml(answer));
    return lines(format === "name" ? namesOf(answer) : view());
  };
  return {
    format,
    isQuiet,
    document,
    list: (answer, columns, nameOf) => {
      if (format === "name" && nameOf !== undefined) return lines(answer.data.map(nameOf));
      const shown = columns.filter(({ isWide }) => isWide !== true || format === "wide");
      return document(answer, () => (answer.data.length === 0 ? [] : formatTable(shown, answer.data, { width })));
    },
    done: async (answer, sentence) => {
      if (format === "table" || format === "wide") return isQuiet ? undefined : lines([sentence]);
      if (answer !== undefined) await document(answer, () => []);
    },
    record: async (value, view) => {
      if (format === "json") return lines([printableJson(JSON.stringify(value))]);
      if (format === "yaml") return write(`---\n${await toYaml(value)}`);
      return lines(format === "name" ? namesOf(value) : view());
    },
    line: (text) => lines([text]),
    exact: (text) => write(isTerminal ? printable(text) : text),
    note: (text) => {
      if (!isQuiet) writeError(`${shown(text)}\n`);
    },
  };
}

/** Ids of an answer, or of the items of a list; the name of what has no id. */
function namesOf(answer: unknown): string[] {
  const data = fieldOf(answer, "data") ?? answer;
  const items: readonly unknown[] = Array.isArray(data) ? data : [data];
  return items.flatMap((item) => {
    const name = fieldOf(item, "id") ?? fieldOf(item, "name") ?? fieldOf(item, "delivery_id");
    return typeof name === "string" ? [name] : [];
  });
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>)[name] : undefined; // Any field.
}
