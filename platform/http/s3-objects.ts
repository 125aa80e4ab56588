import { hash } from "node:crypto";
import { AwsClient } from "aws4fetch";
import type { Objects } from "../../delivery/destinations/ports.ts";
import type { PostResult } from "./post-exchange.ts";
import type { S3Address } from "./s3-address.ts";
import type { WebhookClient } from "./webhook-client.ts";

/**
 * Stores objects in the S3-compatible store of the installation, by path-style URLs and SigV4.
 *
 * @param client reaches the store, which its operator has chosen: the egress policy for user code does not apply
 */
export function createS3Objects(
  { endpoint, bucket: only, hasOwnerPrefix, ...keys }: S3Address,
  client: Pick<WebhookClient, "post">,
): Objects {
  const signer = new AwsClient({ ...keys, service: "s3" });
  return {
    bucket: only,
    hasOwnerPrefix,
    put: async ({ bucket, key, body, contentType }): Promise<PostResult> => {
      const path = [bucket, ...key].map((part) => encodeURIComponent(part)).join("/");
      // Without this header the signer leaves the body unsigned.
      const given = { "content-type": contentType, "x-amz-content-sha256": hash("sha256", body) };
      const { url, headers } = await signer.sign(`${endpoint}/${path}`, { method: "PUT", body, headers: given });
      return client.post({ method: "PUT", url, headers: Object.fromEntries(headers), body });
    },
  };
}
