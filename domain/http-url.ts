const maxHostCharacters = 253;
const maxLabelCharacters = 63;
const maxPort = 65_535;

/**
 * What is wrong with the host or the port of an http URL, as the end of "it must …"; undefined if it can be connected to. Bounds of names
 * are those of DNS (RFC 1035, section 2.3.4).
 */
export function hostProblem(url: string): string | undefined {
  const authority = /^https?:\/\/(?:[^/?#]*@)?([^/?#]*)/i.exec(url)?.[1] ?? "";
  const port = /:(\d*)$/.exec(authority)?.[1] ?? "";
  if (port !== "" && (Number(port) < 1 || Number(port) > maxPort))
    return `it must have a port from 1 to ${maxPort}, not ${port.slice(0, 20)}`;
  const host = authority.slice(0, port === "" ? authority.length : -port.length - 1).replace(/:$/, "");
  if (host.startsWith("[")) return undefined;
  const name = (URL.canParse(url) ? new URL(url).hostname : host).replace(/\.$/, "");
  const label = name.split(".").find((part) => part === "" || part.length > maxLabelCharacters);
  if (name !== "" && label !== undefined) {
    const what = label === "" ? "two dots in a row, or one at its start" : `a part of ${label.length}`;
    return `it must have a host name whose parts between dots have 1 to ${maxLabelCharacters} characters, and this one has ${what}`;
  }
  if (name.length <= maxHostCharacters) return undefined;
  return `it must have a host name of at most ${maxHostCharacters} characters, and this one has ${name.length}`;
}
