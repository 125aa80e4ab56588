import { encode, sha256, sign } from "./aws-signature.ts";

/** Props of a bucket of S3, or of storage with the same interface. */
export const bucketProps = {
  endpoint: {
    type: "string",
    label: "Endpoint",
    description: "Address of the storage, such as `https://minio.example.com`. Without one, that of AWS in the region",
    optional: true,
  },
  region: { type: "string", label: "Region", description: "Region of the bucket", default: "us-east-1" },
  bucket: { type: "string", label: "Bucket", description: "Name of the bucket" },
  key: { type: "string", label: "Key", description: "Key of the object, such as `orders/7.json`" },
  accessKeyId: { type: "string", label: "Access Key ID", description: "Id of the access key" },
  secretAccessKey: { type: "string", label: "Secret Access Key", description: "Secret of the access key", secret: true },
  sessionToken: { type: "string", label: "Session Token", description: "Only for temporary keys", secret: true, optional: true },
  pathStyle: {
    type: "boolean",
    label: "Bucket in the Path",
    description: "Address the bucket as `<endpoint>/<bucket>`; otherwise as `<bucket>.<endpoint>`",
    default: true,
  },
} as const;

export interface BucketObject {
  readonly endpoint: string | undefined;
  readonly region: string;
  readonly bucket: string;
  readonly key: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string | undefined;
  readonly pathStyle: boolean;
}

/** Sends a signed request for one object. @throws Error with the code and message of the storage, for a status of 400 and above */
export async function request(
  method: "GET" | "PUT",
  object: BucketObject,
  body: Uint8Array = new Uint8Array(),
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const url = addressOf(object);
  const { accessKeyId, secretAccessKey, sessionToken, region } = object;
  const signed = sign(
    {
      method,
      url,
      headers: { ...headers, ...(sessionToken === undefined ? {} : { "x-amz-security-token": sessionToken }) },
      bodyHash: sha256(body),
      at: new Date(),
    },
    { accessKeyId, secretAccessKey, region, service: "s3" },
  );
  const signal = AbortSignal.timeout(120_000);
  const response = await fetch(url, { method, headers: signed, redirect: "manual", signal, ...(method === "PUT" ? { body } : {}) });
  if (response.status >= 300) throw new Error(`${method} ${url.href} answered ${response.status}: ${reasonOf(await response.text())}`);
  return response;
}

export function addressOf({ endpoint, region, bucket, key, pathStyle }: BucketObject): URL {
  const base = endpoint ?? `https://s3.${region}.amazonaws.com`;
  if (!URL.canParse(base) || !/^https?:/i.test(base))
    throw new Error(`endpoint "${base}" is invalid: it must begin with http:// or https:// and have a host`);
  const segments = key.split("/");
  if (key === "" || segments.some((segment) => segment === "." || segment === ".."))
    throw new Error(`key "${key}" is invalid: it must not be empty, and no part between slashes may be . or ..`);
  const url = new URL(base);
  if (!pathStyle) url.hostname = `${bucket}.${url.hostname}`;
  const prefix = url.pathname.replace(/\/$/, "");
  url.pathname = [prefix, ...(pathStyle ? [encode(bucket)] : []), ...segments.map(encode)].join("/");
  return url;
}

/** The error of an S3 response, `<Error><Code>…</Code><Message>…</Message></Error>`. */
function reasonOf(text: string): string {
  const [code, message] = ["Code", "Message"].map((name) => new RegExp(`<${name}>([^<]*)</${name}>`).exec(text)?.[1]);
  return code === undefined ? text.slice(0, 200) : `${code}${message === undefined ? "" : `: ${message}`}`;
}
