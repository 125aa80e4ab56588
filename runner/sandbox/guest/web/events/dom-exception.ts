import { tag } from "../define.ts";

/** Legacy codes (WebIDL, "DOMException names"); every other name has code 0. */
const codes: Readonly<Record<string, number>> = Object.assign(Object.create(null), {
  IndexSizeError: 1,
  HierarchyRequestError: 3,
  WrongDocumentError: 4,
  InvalidCharacterError: 5,
  NoModificationAllowedError: 7,
  NotFoundError: 8,
  NotSupportedError: 9,
  InUseAttributeError: 10,
  InvalidStateError: 11,
  SyntaxError: 12,
  InvalidModificationError: 13,
  NamespaceError: 14,
  InvalidAccessError: 15,
  TypeMismatchError: 17,
  SecurityError: 18,
  NetworkError: 19,
  AbortError: 20,
  URLMismatchError: 21,
  QuotaExceededError: 22,
  TimeoutError: 23,
  InvalidNodeTypeError: 24,
  DataCloneError: 25,
});

export class DOMException extends Error {
  constructor(message: unknown = "", options: unknown = "Error") {
    const given = typeof options === "object" && options !== null ? (options as { name?: unknown; cause?: unknown }) : { name: options };
    super(String(message), "cause" in given ? { cause: given.cause } : undefined);
    Object.defineProperty(this, "name", {
      value: String(given.name ?? "Error"),
      configurable: true,
      enumerable: false,
      writable: true,
    });
    const { stack } = this;
    if (stack !== undefined && stack.startsWith("Error"))
      Object.defineProperty(this, "stack", { value: this.name + stack.slice(5), configurable: true, writable: true });
  }
  get code(): number {
    return codes[this.name] ?? 0;
  }
}

tag(DOMException, "DOMException");
for (const [name, code] of Object.entries(codes)) {
  const constant = `${name
    .replace(/Error$/, "")
    .replace(/([a-z])([A-Z])/g, "$1_$2")
    .toUpperCase()}_ERR`;
  for (const target of [DOMException, DOMException.prototype]) Object.defineProperty(target, constant, { value: code, enumerable: true });
}
