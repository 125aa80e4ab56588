/** Fields from lines of the form `name=value`; undefined if a line has another form. Values may contain `=`. */
export function parseCredentials(lines: string): Readonly<Record<string, string>> | undefined {
  const given = lines.split("\n").filter((line) => line.trim() !== "");
  if (given.some((line) => !/^\s*[^=\s]+\s*=/.test(line))) return undefined;
  return Object.fromEntries(given.map((line) => [line.slice(0, line.indexOf("=")).trim(), line.slice(line.indexOf("=") + 1).trim()]));
}
