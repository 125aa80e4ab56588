import { usageFailure } from "../failure.ts";

/**
 * Where events are posted: a port of this machine, with the path of the webhook's URL, or a URL as it is.
 * @throws Failure for anything else
 */
export function targetOf(to: string, webhookUrl: string): URL {
  if (/^\d{1,5}$/.test(to)) {
    const port = Number(to);
    if (port < 1 || port > 65_535) throw usageFailure(`--to ${to} is no port: it must be 1 to 65535`);
    const { pathname, search } = URL.parse(webhookUrl) ?? { pathname: "/", search: "" };
    return new URL(`http://localhost:${port}${pathname}${search}`);
  }
  const url = URL.parse(to);
  if (url === null || !["http:", "https:"].includes(url.protocol))
    throw usageFailure(`--to "${to}" is neither a port nor a URL`, "write --to 3000 or --to http://localhost:3000/hook");
  return url;
}

/** Without its password. */
export const shownTarget = (target: URL): string => Object.assign(new URL(target), { username: "", password: "" }).href;
