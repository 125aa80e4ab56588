/** Stands in for `webidl-conversions`: all that whatwg-url asks of it. The package wants a SharedArrayBuffer too, which is gone by then. */
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
