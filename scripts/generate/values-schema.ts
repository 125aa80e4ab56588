import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isMap, isScalar, parseDocument, type Pair, type YAMLMap } from "yaml";
import { z } from "zod";
import { runnerPoolKind } from "../../crds/runner-pool.ts";
import { rolePrefixPattern } from "../../platform/postgres/roles.ts";
import { environment } from "../../platform/process/settings/environment.ts";
import { settingNotes } from "../../platform/process/settings/settings.ts";
import { structuralSchema } from "./structural.ts";

type Schema = Readonly<Record<string, unknown>>;

const text: Schema = { type: "string" };
const texts: Schema = { type: "object", additionalProperties: text };
const anything: Schema = { type: "object" };
const cidrs: Schema = { type: "array", items: { type: "string", pattern: "^[0-9a-fA-F:.]+/\\d{1,3}$" } };
const peers: Schema = { type: "array", items: anything };
const ports: Schema = { type: "array", items: { type: "integer", minimum: 1, maximum: 65_535 } };
const plaintext: Schema = { type: "string", enum: ["own", "always", "never"] };
const resources: Schema = {
  type: "object",
  additionalProperties: false,
  properties: { requests: quantities(), limits: quantities(), claims: { type: "array", items: anything } },
};

/** Settings that the chart sets itself, or that only an embedded start reads, are excluded from the values. */
const setElsewhere =
  /^(NATS_|DATABASE_URL|HEADWATER_(ROLES|RESOURCES|NAMESPACE|POD_NAME|RUNNER_PODS|POOL|.*LISTEN|.*_URL|DATA|KEYS|DATABASE_.*|SERVER_.*|PLAINTEXT|(WEBHOOK|SMTP|S3)_CA|EGRESS_ALLOW|TRUSTED_PROXIES|NATS_.*|SYNC_INTERVAL|OWNER_.*|MAIL_FROM|API_KEY_SECRET|STOP_TIMEOUT|LOG_LEVEL)|OTEL_EXPORTER_OTLP_)/;

/** Schemas of values whose default does not imply their type, by path or by name. */
const known: Readonly<Record<string, Schema>> = {
  "settings.logLevel": settingSchema("HEADWATER_LOG_LEVEL"),
  "settings.trustedProxies": { anyOf: [cidrs, { type: "integer", minimum: 0, maximum: 9 }] },
  "settings.environment": { type: "object", additionalProperties: false, properties: settingsSchemas() },
  "owner.id": { type: "string", pattern: "^u_[0-9a-z]{1,57}$" },
  "owner.quota": { type: "object", additionalProperties: { type: ["string", "integer"] } },
  "image.pullPolicy": { type: "string", enum: ["Always", "IfNotPresent", "Never"] },
  "image.digest": { type: "string", pattern: "^(sha256:[0-9a-f]{64})?$" },
  "runners.defaultPool": { anyOf: [poolSchema(), { type: "null" }] },
  "traces.endpoint": { type: "string", pattern: "^(https?://.*)?$" },
  spread: { type: "string", enum: ["preferred", "required"] },
  "nats.replicas": { type: "integer", enum: [1, 3, 5] },
  "nats.streamReplicas": { type: "integer", enum: [1, 3, 5] },
  "nats.syncInterval": { type: "string", pattern: "^(always|\\d+(ms|s|m))$" },
  "nats.plaintext": plaintext,
  "postgres.pooler": { type: "string", enum: ["none", "transaction"] },
  "postgres.rolePrefix": { type: "string", pattern: rolePrefixPattern.source },
  "postgres.plaintext": plaintext,
  imagePullSecrets: { type: "array", items: text },
  "service.type": { type: "string", enum: ["ClusterIP", "NodePort", "LoadBalancer"] },
  annotations: texts,
  podAnnotations: texts,
  podLabels: texts,
  labels: texts,
  egressAllow: cidrs,
  blockedCidrs: cidrs,
  pod: anything,
  resources,
  peers,
  clients: peers,
  dnsPeers: peers,
  adminClients: peers,
  scrapedBy: peers,
  kubeApiPeers: peers,
  ports,
  kubeApiPorts: ports,
};

/** The schema of the chart's values: shape and descriptions from values.yaml, accepted settings from the configuration. */
export function valuesSchema(root: string): string {
  const document = parseDocument(readFileSync(join(root, "charts/headwater/values.yaml"), "utf8"));
  if (!isMap(document.contents)) throw new Error("charts/headwater/values.yaml holds no map");
  const schema = {
    $schema: "https://json-schema.org/draft-07/schema#",
    title: "Values of the chart headwater",
    ...mapSchema(document.contents, ""),
  };
  return `${JSON.stringify(schema, undefined, 2)}\n`;
}

function mapSchema(map: YAMLMap, path: string): Schema {
  const properties = Object.fromEntries(
    map.items.map((pair, index) => {
      const name = String(pair.key);
      return [name, pairSchema(pair, path === "" ? name : `${path}.${name}`, index === 0 ? map.commentBefore : undefined)];
    }),
  );
  // Helm passes `global` to every chart.
  return { type: "object", additionalProperties: false, properties: path === "" ? { ...properties, global: anything } : properties };
}

function pairSchema(pair: Pair, path: string, commentOfMap: string | null | undefined): Schema {
  const comment = (isScalar(pair.key) ? pair.key.commentBefore : undefined) ?? commentOfMap;
  // Comments of the first level stand above a group, or above the whole file.
  const isGroup = !path.includes(".") && isMap(pair.value);
  const described = typeof comment === "string" && !isGroup ? { description: words(comment) } : {};
  const [tail, last] = [path.split(".").slice(-2).join("."), path.split(".").at(-1) ?? ""];
  const schema = known[path] ?? known[tail] ?? known[last] ?? valueSchema(pair.value, path);
  return { ...schema, ...described };
}

function valueSchema(value: unknown, path: string): Schema {
  if (isMap(value)) return mapSchema(value, path);
  const plain = isScalar(value) ? value.value : undefined;
  if (typeof plain === "boolean") return { type: "boolean" };
  if (typeof plain === "number") return { type: "integer", minimum: 0 };
  if (typeof plain === "string") return text;
  throw new Error(`nothing says what may stand at ${path} in charts/headwater/values.yaml: add it to \`known\``);
}

const words = (comment: string): string =>
  comment
    .split("\n")
    .map((line) => line.trim())
    .join(" ")
    .trim();

function settingSchema(name: keyof typeof environment.shape): Schema {
  const { $schema: _, ...schema } = z.toJSONSchema(environment.shape[name], { io: "input", unrepresentable: "any" });
  const notes = settingNotes.get(environment.shape[name]);
  return { ...schema, description: notes === undefined ? "" : `${notes.reason}. ${notes.unit}` };
}

function settingsSchemas(): Record<string, Schema> {
  const names = Object.keys(environment.shape).filter((name) => !setElsewhere.test(name)) as (keyof typeof environment.shape)[]; // Its own keys.
  return Object.fromEntries(names.map((name) => [name, settingSchema(name)]));
}

/** The schema of a RunnerPool's spec, without Kubernetes' own rules. */
function poolSchema(): Schema {
  return JSON.parse(
    JSON.stringify(structuralSchema(runnerPoolKind.spec), (key, value: unknown) => (key.startsWith("x-kubernetes-") ? undefined : value)),
  ) as Schema; // What JSON.stringify wrote of an object.
}

function quantities(): Schema {
  return { type: "object", additionalProperties: { type: ["string", "number"] } };
}
