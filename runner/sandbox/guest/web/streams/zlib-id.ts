let last = 0;

/** Names a compression stream on the host, for the web's and for Node's classes. */
export function nextZlibId(): number {
  last += 1;
  return last;
}
