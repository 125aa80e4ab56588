import { defineAction } from "headwater/types";
import { bucketProps, request } from "../shared/s3.ts";

export default defineAction({
  name: "S3: Put an Object",
  key: "headwater-s3-put",
  version: "1.0.0",
  type: "action",
  description: "Stores an object in a bucket of S3 or of storage with the same interface",
  annotations: { released: "2026-11-23" },
  props: {
    ...bucketProps,
    content: { type: "any", label: "Content", description: "A string is stored as it is, any other value as JSON" },
    encoding: {
      type: "string",
      label: "Encoding",
      description: "Of a string: text, or bytes in base64",
      options: ["text", "base64"],
      default: "text",
    },
    contentType: {
      type: "string",
      label: "Content Type",
      description: "Without one: `application/json` for JSON, `text/plain` for text, `application/octet-stream` for bytes",
      optional: true,
    },
  },
  methods: {
    bytes(): Buffer {
      if (typeof this.content !== "string") return Buffer.from(JSON.stringify(this.content ?? null));
      if (this.encoding !== "base64") return Buffer.from(this.content);
      if (!/^[\w+/=\s-]*$/.test(this.content)) throw new Error("content is invalid: with the encoding base64 it must be base64");
      return Buffer.from(this.content, "base64");
    },
    type(): string {
      if (this.contentType !== undefined) return this.contentType;
      if (typeof this.content !== "string") return "application/json";
      return this.encoding === "base64" ? "application/octet-stream" : "text/plain; charset=utf-8";
    },
  },
  async run({ $ }) {
    const bytes = this.bytes();
    const response = await request("PUT", this, bytes, { "content-type": this.type() });
    $.export("$summary", `Stored ${this.key} with ${bytes.byteLength} bytes`);
    return { bucket: this.bucket, key: this.key, bytes: bytes.byteLength, etag: response.headers.get("etag") };
  },
});
