/** Replaces `webidl-conversions`, as far as whatwg-url uses it. The package needs SharedArrayBuffer, which is removed here. */
interface ConversionOptions {
  readonly context?: string;
}

export function any(value: unknown): unknown {
  return value;
}

export function USVString(value: unknown, { context = "Value" }: ConversionOptions = {}): string {
  if (typeof value === "symbol") throw new TypeError(`${context} is a symbol, which cannot be converted to a string.`);
  return String(value).toWellFormed();
}
