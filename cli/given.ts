import { usageFailure } from "./failure.ts";

/** Arguments and options of a command line, by name: options without dashes (`limit`), arguments without brackets (`source`). */
export class Given {
  readonly #values: ReadonlyMap<string, unknown>;
  readonly #declared: ReadonlySet<string>;

  constructor(values: ReadonlyMap<string, unknown>, declared: ReadonlySet<string>) {
    this.#values = values;
    this.#declared = declared;
  }

  /** Whether the command line has it. */
  has(name: string): boolean {
    return this.#valueOf(name) !== undefined;
  }

  flag(name: string): boolean {
    return this.#valueOf(name) === true;
  }

  text(name: string): string | undefined {
    const value = this.#valueOf(name);
    return typeof value === "string" ? value : undefined;
  }

  /** @throws Failure that names what is missing */
  required(name: string): string {
    const value = this.text(name);
    if (value === undefined || value === "")
      throw usageFailure(`${name} is ${value === "" ? "empty" : "missing"}`, `give --${name}, or the argument <${name}>`);
    return value;
  }

  count(name: string): number | undefined {
    const value = this.#valueOf(name);
    return typeof value === "number" ? value : undefined;
  }

  list(name: string): readonly string[] {
    const value = this.#valueOf(name);
    return Array.isArray(value) ? value.map(String) : [];
  }

  #valueOf(name: string): unknown {
    if (!this.#declared.has(name)) throw new Error(`the command declares no ${name}`);
    return this.#values.get(name);
  }
}
