/** Is everything planned present, whatever else there is? Lists must match in length and order. */
export function covers(live: unknown, planned: unknown): boolean {
  if (Array.isArray(planned))
    return Array.isArray(live) && live.length === planned.length && planned.every((each, index) => covers(live[index], each));
  if (typeof planned !== "object" || planned === null) return live === planned;
  if (Array.isArray(live)) return false;
  // The server omits fields that are empty or false.
  const object: object = typeof live === "object" && live !== null ? live : {};
  return Object.entries(planned).every(([name, value]) => {
    if (value === undefined) return true;
    const found: unknown = name in object ? Reflect.get(object, name) : undefined;
    return found === undefined ? isEmpty(value) : covers(found, value);
  });
}

function isEmpty(value: unknown): boolean {
  if (value === false || value === "" || value === 0) return true;
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}
