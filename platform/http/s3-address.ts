/** What HEADWATER_S3_URL says. */
export interface S3Address {
  /** Without trailing slash. */
  readonly endpoint: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** The only bucket that may be written; undefined: any that the keys may write. */
  readonly bucket: string | undefined;
  /** Whether the keys of objects begin with the id of their owner. */
  readonly hasOwnerPrefix: boolean;
}

const defaultRegion = "us-east-1";

/** Undefined if the text is no URL `http[s]://<access key>:<secret key>@host[:port][/<bucket>][?region=<region>][&owner_prefix=false]`. */
export function parseS3Url(text: string): S3Address | undefined {
  if (!URL.canParse(text)) return undefined;
  const { protocol, origin, username, password, pathname, searchParams, hash } = new URL(text);
  const [, bucket, ...rest] = pathname.split("/");
  const ownerPrefix = searchParams.get("owner_prefix") ?? "true";
  const isKnown =
    [...searchParams.keys()].every((name) => name === "region" || name === "owner_prefix") && /^(true|false)$/.test(ownerPrefix);
  if (!/^https?:$/.test(protocol) || username === "" || password === "" || rest.join("") !== "" || !isKnown || hash !== "")
    return undefined;
  try {
    return {
      endpoint: origin,
      region: searchParams.get("region") ?? defaultRegion,
      accessKeyId: decodeURIComponent(username),
      secretAccessKey: decodeURIComponent(password),
      bucket: bucket === "" || bucket === undefined ? undefined : bucket,
      hasOwnerPrefix: ownerPrefix === "true",
    };
  } catch {
    return undefined;
  }
}
