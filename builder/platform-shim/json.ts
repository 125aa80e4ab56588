/**
 * JSON text of anything: a reference back to an object being written becomes "[Circular]", a bigint its digits,
 * and a value that refuses (a throwing getter or `toJSON`) gives "[Unserializable]" as a whole.
 */
export function jsonStringifySafe(value: unknown, indent?: number | string): string | undefined {
  const above: unknown[] = [];
  try {
    return JSON.stringify(
      value,
      function (this: unknown, _key, item: unknown) {
        if (typeof item === "bigint") return item.toString();
        if (typeof item !== "object" || item === null) return item;
        // `this` holds the item: whatever was written deeper than it is finished.
        while (above.length > 0 && above.at(-1) !== this) above.pop();
        if (above.includes(item)) return "[Circular]";
        above.push(item);
        return item;
      },
      indent,
    );
  } catch {
    return JSON.stringify("[Unserializable]");
  }
}
