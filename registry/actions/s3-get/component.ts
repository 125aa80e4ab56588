import { defineAction } from "headwater/types";
import { readBytes } from "../../shared/read-bytes.ts";
import { bucketProps, request } from "../shared/s3.ts";

/** The result of a step has at most 4 MiB of JSON, and base64 makes bytes longer by a third. */
const maxBytes = 2.5 * 2 ** 20;

export default defineAction({
  name: "S3: Get an Object",
  key: "headwater-s3-get",
  version: "1.0.0",
  type: "action",
  description: "Reads an object of a bucket of S3 or of storage with the same interface, and returns its content",
  annotations: { released: "2026-11-23" },
  props: {
    ...bucketProps,
    format: {
      type: "string",
      label: "Format",
      description: "How the content is returned; objects have at most 2.5 MiB",
      options: [
        { label: "Text", value: "text" },
        { label: "Parsed JSON", value: "json" },
        { label: "Bytes in base64", value: "base64" },
      ],
      default: "text",
    },
  },
  methods: {
    content(bytes: Uint8Array): unknown {
      if (this.format === "base64") return Buffer.from(bytes).toString("base64");
      const text = new TextDecoder().decode(bytes);
      if (this.format !== "json") return text;
      try {
        return JSON.parse(text);
      } catch (cause) {
        throw new Error(`the object ${this.key} is not JSON: it begins with ${JSON.stringify(text.slice(0, 100))}`, { cause });
      }
    },
  },
  async run({ $ }) {
    const response = await request("GET", this);
    const bytes = await readBytes(response, maxBytes, this.key);
    const { headers } = response;
    $.export("$summary", `Read ${this.key} with ${bytes.byteLength} bytes`);
    return {
      content: this.content(bytes),
      bytes: bytes.byteLength,
      content_type: headers.get("content-type"),
      etag: headers.get("etag"),
      last_modified: headers.get("last-modified"),
    };
  },
});
