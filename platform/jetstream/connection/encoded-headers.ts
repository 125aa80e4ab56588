import { MsgHdrsImpl } from "@nats-io/transport-node";
import { Invariant } from "../../../domain/errors.ts";

/** Message headers that are encoded at once. The client's map of arrays takes a third of the cost of a small publish. */
export class EncodedHeaders extends MsgHdrsImpl {
  readonly #text: string;

  constructor(fields: Readonly<Record<string, string>>) {
    super();
    let text = "NATS/1.0\r\n";
    for (const name in fields) text += `${name}: ${checked(name, fields[name] ?? "")}\r\n`;
    this.#text = `${text}\r\n`;
  }

  override encode(): Uint8Array {
    return Buffer.from(this.#text, "utf8");
  }
}

/** A line break in a value would inject headers. */
function checked(name: string, value: string): string {
  if (/[\r\n]/.test(value)) throw new Invariant(`message header ${name} has a line break`);
  return value;
}
