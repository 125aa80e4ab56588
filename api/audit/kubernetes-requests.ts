import { z } from "zod";
import { kinds } from "../../crds/kinds.ts";
import { group, ownFieldManager } from "../../crds/resource.ts";
import type { KubernetesRequest } from "./ports.ts";

const user = z.object({ username: z.string() });

/** The fields of an audit event (audit.k8s.io/v1) that are used. Bodies, if the policy includes them, are dropped. */
const auditEvent = z.object({
  auditID: z.string().min(1).max(200),
  stage: z.string(),
  verb: z.string(),
  requestURI: z.string(),
  user,
  impersonatedUser: user.optional(),
  sourceIPs: z.array(z.string()).default([]),
  userAgent: z.string().default(""),
  objectRef: z
    .object({
      resource: z.string().default(""),
      namespace: z.string().default(""),
      name: z.string().default(""),
      apiGroup: z.string().default(""),
      subresource: z.string().default(""),
    })
    .optional(),
  responseStatus: z.object({ code: z.int().default(0) }).optional(),
  requestReceivedTimestamp: z.string(),
  stageTimestamp: z.string(),
});

export const auditEventList = z.object({ items: z.array(z.unknown()).describe("Events of the group `audit.k8s.io/v1`.") });

const verbs = ["create", "update", "patch", "delete"];

/** The requests of other clients that changed a resource. Other events are left out: a policy may send more than is needed. */
export function requestsFrom(items: readonly unknown[]): readonly KubernetesRequest[] {
  return items.flatMap((item) => {
    const parsed = auditEvent.safeParse(item);
    const request = parsed.success ? requestFrom(parsed.data) : undefined;
    return request === undefined ? [] : [request];
  });
}

function requestFrom(event: z.output<typeof auditEvent>): KubernetesRequest | undefined {
  const { objectRef, responseStatus = { code: 0 }, verb } = event;
  const kind = kinds.find(({ plural }) => plural === objectRef?.resource);
  const isWrite = event.stage === "ResponseComplete" && verbs.includes(verb) && responseStatus.code >= 200 && responseStatus.code < 300;
  if (!isWrite || kind === undefined || objectRef === undefined || objectRef.apiGroup !== group) return undefined;
  const query = new URLSearchParams(event.requestURI.split("?")[1] ?? "");
  if (objectRef.name === "" || objectRef.subresource === "status" || query.has("dryRun")) return undefined;
  // As the API server names a client that does not name itself.
  const fieldManager = query.get("fieldManager") ?? event.userAgent.split("/")[0] ?? "";
  const [startedAt, endedAt] = [Date.parse(event.requestReceivedTimestamp), Date.parse(event.stageTimestamp)];
  if (fieldManager === ownFieldManager || Number.isNaN(startedAt) || Number.isNaN(endedAt)) return undefined;
  return {
    id: event.auditID,
    object: `${kind.kind}/${objectRef.namespace}/${objectRef.name}`,
    isDeletion: verb === "delete",
    startedAt,
    endedAt,
    fieldManager,
    user: (event.impersonatedUser ?? event.user).username,
    address: event.sourceIPs[0] ?? null,
  };
}
