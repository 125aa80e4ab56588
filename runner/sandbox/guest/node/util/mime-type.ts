import { nodeError } from "../errors.ts";

const token = /^[!#$%&'*+\-.^_`|~A-Za-z0-9]+$/;
const quoted = (value: string): string => (token.test(value) ? value : `"${value.replace(/["\\]/g, "\\$&")}"`);

export class MIMEParams extends Map<string, string> {
  override toString(): string {
    return [...this].map(([name, value]) => `${name}=${quoted(value)}`).join(";");
  }
}

function checked(part: string, name: string, whole: string): string {
  if (!token.test(part)) throw nodeError("ERR_INVALID_MIME_SYNTAX", `The MIME syntax for a ${name} in "${whole}" is invalid`, TypeError);
  return part.toLowerCase();
}

/** A media type by the WHATWG rules: `type/subtype;name=value`. */
export class MIMEType {
  #type: string;
  #subtype: string;
  readonly params = new MIMEParams();
  constructor(input: unknown) {
    const whole = String(input).trim();
    const [essence = "", ...parameters] = whole.split(/;(?=(?:[^"]*"[^"]*")*[^"]*$)/);
    const slash = essence.indexOf("/");
    this.#type = checked(slash === -1 ? "" : essence.slice(0, slash), "type", whole);
    this.#subtype = checked(essence.slice(slash + 1).trim(), "subtype", whole);
    for (const parameter of parameters) {
      const equals = parameter.indexOf("=");
      const name = parameter.slice(0, equals).trim().toLowerCase();
      const value = parameter
        .slice(equals + 1)
        .trim()
        .replace(/^"((?:[^"\\]|\\.)*)".*$/s, (_match, inner: string) => inner.replace(/\\(.)/g, "$1"));
      if (equals > 0 && token.test(name) && !this.params.has(name)) this.params.set(name, value);
    }
  }
  get type(): string {
    return this.#type;
  }
  set type(value: string) {
    this.#type = checked(value, "type", value);
  }
  get subtype(): string {
    return this.#subtype;
  }
  set subtype(value: string) {
    this.#subtype = checked(value, "subtype", value);
  }
  get essence(): string {
    return `${this.#type}/${this.#subtype}`;
  }
  toString(): string {
    const parameters = this.params.toString();
    return parameters === "" ? this.essence : `${this.essence};${parameters}`;
  }
  toJSON(): string {
    return this.toString();
  }
}
