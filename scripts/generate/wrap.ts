const maxLineLength = 120;

/** Breaks a line of prose or of a list at the last space that fits. Rows of tables stay whole. */
export function wrap(line: string): string {
  if (line.length <= maxLineLength || line.startsWith("|")) return line;
  const end = line.lastIndexOf(" ", maxLineLength);
  const indent = line.startsWith("- ") ? "  " : "";
  return end === -1 ? line : `${line.slice(0, end)}\n${wrap(`${indent}${line.slice(end + 1)}`)}`;
}
