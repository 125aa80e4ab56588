import { impossible } from "./destination.ts";
import type { Objects } from "./ports.ts";
import { outcomeOf } from "./post-outcome.ts";
import { contentTypeOf, textOf, type Send } from "./send.ts";

/** `$.send.s3`: an object in the store of the installation. @param objects absent: it has none */
export const s3Send = (objects: Objects | undefined): Send<"s3"> => ({
  kind: "s3",
  storesBeforeFirstAttempt: true,
  async carryOut({ bucket, prefix, payload }, { id, event }) {
    if (objects === undefined) return impossible("this installation stores no objects: HEADWATER_S3_URL is not set");
    const ownerParts = objects.hasOwnerPrefix ? [event.owner] : [];
    const key = [...ownerParts, ...prefix.split("/").filter((part) => part !== ""), new Date(event.ts).toISOString().slice(0, 10), id];
    if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(bucket))
      return impossible(`the bucket of $.send.s3 is invalid: ${JSON.stringify(bucket)}`);
    if (objects.bucket !== undefined && bucket !== objects.bucket)
      return impossible(`bucket ${bucket} cannot be written: $.send.s3 of this installation writes to ${objects.bucket}`);
    if (key.some((part) => part === "." || part === "..")) return impossible("the prefix of $.send.s3 is invalid: it contains . or ..");
    const result = await objects.put({ bucket, key, body: textOf(payload), contentType: contentTypeOf(payload) });
    return outcomeOf(result, "HEADWATER_S3_URL must have the final address");
  },
});
