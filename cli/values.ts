import { readFile } from "node:fs/promises";
import { usageFailure } from "./failure.ts";

/** `name=value` pairs of an option that can be repeated. @throws Failure for anything else */
export function pairsOf(texts: readonly string[], option: string): Record<string, string> {
  return Object.fromEntries(
    texts.map((text) => {
      const at = text.indexOf("=");
      if (at <= 0) throw usageFailure(`${option} "${text}" is invalid`, `write ${option} name=value`);
      return [text.slice(0, at), text.slice(at + 1)];
    }),
  );
}

/** The text of a file; of `-` standard input. @throws Failure if it cannot be read */
export async function readText(file: string): Promise<string> {
  try {
    return file === "-" ? await readStandardInput() : await readFile(file, "utf8");
  } catch (error) {
    throw usageFailure(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

async function readStandardInput(): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(Buffer.from(chunk as Uint8Array)); // Without an encoding.
  return Buffer.concat(chunks).toString();
}

/** A JSON value: `@file` or the text itself. @throws Failure if it is not JSON */
export async function jsonOf(text: string, option: string): Promise<unknown> {
  const source = text.startsWith("@") ? await readText(text.slice(1)) : text;
  try {
    return JSON.parse(source) as unknown;
  } catch (error) {
    throw usageFailure(
      `${option} is not JSON: ${error instanceof Error ? error.message : String(error)}`,
      `write ${option} '{"a":1}' or ${option} @file.json`,
    );
  }
}

/** The objects of a YAML or JSON file; `-` is standard input. @throws Failure */
export async function objectsOf(file: string): Promise<Readonly<Record<string, unknown>>[]> {
  const { fromYaml } = await import("./output/yaml.ts");
  const text = await readText(file);
  const documents = await fromYaml(text).catch((error: unknown) => {
    throw usageFailure(`${file} is not YAML: ${error instanceof Error ? error.message.split("\n")[0] : String(error)}`);
  });
  return documents.flatMap((document) => (document === null ? [] : [recordOf(document, file)]));
}

export function recordOf(value: unknown, what: string): Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw usageFailure(`${what} must be an object`);
  return value as Readonly<Record<string, unknown>>; // Any object.
}

/** The value of an `on|off` option. */
export const isOn = (text: string | undefined): boolean | undefined => (text === undefined ? undefined : text === "on");

/** Without undefined values. */
export function present<T extends object>(values: T): T {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as T; // Some optional fields are gone.
}
