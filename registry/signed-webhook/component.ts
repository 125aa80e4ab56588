import { randomUUID } from "node:crypto";
import { defineSource, type HttpEvent } from "headwater/types";
import { bodyBytes, isEqual, sign } from "../shared/signature.ts";

export default defineSource({
  name: "Signed Webhook",
  key: "headwater-signed-webhook",
  version: "1.0.0",
  type: "source",
  description:
    "Receives webhooks that are signed with an HMAC of the body, as GitHub's are, and emits those whose signature is right, once each",
  annotations: { released: "2026-11-21" },
  dedupe: "unique",
  props: {
    http: { type: "$.interface.http", label: "Endpoint", description: "What the sender calls", customResponse: true },
    secret: { type: "string", label: "Secret", description: "As the sender has it", secret: true },
    signatureHeader: { type: "string", label: "Signature Header", description: "Where the signature is", default: "X-Hub-Signature-256" },
    signaturePrefix: {
      type: "string",
      label: "Signature Prefix",
      description: "What stands before it; empty: nothing",
      default: "sha256=",
    },
    algorithm: { type: "string", label: "Algorithm", description: "Of the HMAC", options: ["sha256", "sha512", "sha1"], default: "sha256" },
    encoding: { type: "string", label: "Encoding", description: "Of the signature", options: ["hex", "base64"], default: "hex" },
    eventHeader: { type: "string", label: "Event Header", description: "Where the kind of event is named", default: "X-GitHub-Event" },
    deliveryHeader: {
      type: "string",
      label: "Delivery Header",
      description: "Where the delivery's id is: one that comes again is not emitted again",
      default: "X-GitHub-Delivery",
    },
    events: {
      type: "string[]",
      label: "Events",
      description: "Kinds that are emitted, such as `push`. Without any, all are.",
      optional: true,
    },
    channels: {
      type: "boolean",
      label: "A Channel for Each Kind",
      description: "Emit each event on the channel of its kind's name",
      default: false,
    },
  },
  methods: {
    isSigned(event: HttpEvent): boolean {
      const given = event.headers[this.signatureHeader.toLowerCase()] ?? "";
      const encoding = this.encoding === "base64" ? "base64" : "hex";
      return isEqual(given, this.signaturePrefix + sign(this.secret, bodyBytes(event), { algorithm: this.algorithm, encoding }));
    },
  },
  run(event) {
    if (!this.isSigned(event)) {
      return this.http.respond({ status: 401, body: { error: `the signature in ${this.signatureHeader} is missing or wrong` } });
    }
    const kind = event.headers[this.eventHeader.toLowerCase()] ?? "";
    const id = event.headers[this.deliveryHeader.toLowerCase()] ?? randomUUID();
    const isWanted = this.events === undefined || this.events.length === 0 || this.events.includes(kind);
    if (isWanted) {
      const channel = this.channels && kind !== "" ? { name: kind } : {};
      this.$emit({ event: kind, delivery: id, body: event.body ?? null }, { id, summary: kind === "" ? "Webhook" : kind, ...channel });
    }
    this.http.respond({ status: 200, body: { accepted: isWanted } });
  },
});
