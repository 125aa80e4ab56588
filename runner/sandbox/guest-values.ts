/**
 * The arguments of a guest with 0 for each -0. V8 does not count -0 among the integers of 32 bits, which native code of Node takes for
 * granted once `Number.isInteger` holds: it ends the process, and all isolates with it. The arguments are a copy of ours and are changed
 * in place; the bridge has bounded their depth.
 */
export function withoutNegativeZero(args: readonly unknown[]): readonly unknown[] {
  replace(args);
  return args;
}

function replace(container: object): void {
  if (ArrayBuffer.isView(container)) return;
  for (const [name, value] of Object.entries(container)) {
    if (Object.is(value, -0)) Reflect.set(container, name, 0);
    else if (typeof value === "object" && value !== null) replace(value);
  }
}
