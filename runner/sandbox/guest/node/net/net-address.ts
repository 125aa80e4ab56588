const octet = "(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)";
const ipv4 = new RegExp(`^${octet}(?:\\.${octet}){3}$`);

export function isIPv4(text: unknown): boolean {
  return ipv4.test(String(text));
}

export function isIPv6(given: unknown): boolean {
  const [text = "", zone, ...more] = String(given).split("%");
  if (more.length > 0 || zone === "") return false;
  const halves = text.split("::");
  if (halves.length > 2) return false;
  let groups = 0;
  for (const [index, half] of halves.entries()) {
    const parts = half === "" ? [] : half.split(":");
    for (const [at, part] of parts.entries()) {
      const isTail = index === halves.length - 1 && at === parts.length - 1;
      if (isTail && part.includes(".") && isIPv4(part)) groups += 2;
      else if (/^[0-9a-f]{1,4}$/i.test(part)) groups += 1;
      else return false;
    }
  }
  return halves.length === 2 ? groups < 8 : groups === 8;
}

export function isIP(text: unknown): 0 | 4 | 6 {
  return isIPv4(text) ? 4 : isIPv6(text) ? 6 : 0;
}
